package io.erda.launcher.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.console.UserError;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The wait of {@code erda clean} ends, whatever the result of the cleaning is. */
class AwaitedCleaningTest {
  private final Map<String, Long> figures = new HashMap<>();
  private long nowNs;
  private Runnable meanwhile = () -> {};

  AwaitedCleaningTest() {
    figures.put("cleaner.asked", 1L);
    figures.put("store.incarnation", 3L);
  }

  private Map<String, Long> await() {
    return new AwaitedCleaning(
            () -> {
              meanwhile.run();
              return Map.copyOf(figures);
            },
            () -> nowNs,
            ns -> nowNs += ns)
        .await(Map.copyOf(figures));
  }

  @Test
  void aCleaningThatIsDone() {
    meanwhile = () -> figures.put("cleaner.asked", nowNs > 1_000_000_000L ? 0L : 1L);
    assertEquals(0, await().get("cleaner.asked"));
  }

  @Test
  void aCleaningThatTakesLongAndGoesOn() {
    meanwhile =
        () -> {
          figures.merge("cleaner.cleanings", nowNs % 10_000_000_000L == 0 ? 1L : 0L, Long::sum);
          figures.put("cleaner.asked", nowNs > 600_000_000_000L ? 0L : 1L);
        };
    assertEquals(0, await().get("cleaner.asked"));
  }

  @Test
  void aStoreThatBecomesReadOnly() {
    meanwhile =
        () -> {
          figures.put("store.readonly", 1L);
          figures.put("store.readonly.reason=spare-1: unlink: no", 1L);
        };
    UserError error = assertThrows(UserError.class, this::await);
    assertTrue(error.getMessage().endsWith("spare-1: unlink: no"), error.getMessage());
  }

  @Test
  void aServerThatDoesNotGetOn() {
    figures.put("cleaner.phase", 1L);
    UserError error = assertThrows(UserError.class, this::await);
    assertTrue(error.getMessage().contains("has not got on"), error.getMessage());
  }

  @Test
  void anotherServer() {
    meanwhile = () -> figures.put("store.incarnation", 4L);
    UserError error = assertThrows(UserError.class, this::await);
    assertTrue(error.getMessage().contains("another server"), error.getMessage());
  }
}
