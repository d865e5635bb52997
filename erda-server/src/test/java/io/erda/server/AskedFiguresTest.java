package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Other threads than the server's get its figures, while it works and when it is gone. */
class AskedFiguresTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final int PUTS = 4_000;

  @TempDir Path directory;

  /**
   * Callers take the steps of an embedded store: they and the thread that asks exclude each other.
   */
  @Test
  void ofAStoreWhoseCallersTakeTheSteps() throws Exception {
    try (ErdaStore store = ErdaStore.open(directory, SmallStore.OPTIONS)) {
      AtomicBoolean done = new AtomicBoolean();
      CompletableFuture<Void> writer =
          CompletableFuture.runAsync(() -> {
            try (ErdaClient client = store.client()) {
              for (int i = 0; i < PUTS; i++) {
                client.put(new byte[] {(byte) i}, new byte[8]);
              }
            } finally {
              done.set(true);
            }
          });
      long before = 0;
      while (!done.get()) {
        long puts = store.figures(LONG).get("puts");
        assertTrue(puts >= before, "puts went from " + before + " to " + puts);
        before = puts;
      }
      writer.join();
      assertEquals(PUTS, store.figures(LONG).get("puts"));
    }
  }

  @Test
  void ofAServerThatHasEnded() throws Exception {
    ErdaServer server = ErdaServer.start(directory, SmallStore.OPTIONS);
    assertEquals(0, server.figures(LONG).get("puts"));
    server.close();
    String told =
        assertThrows(ErdaException.Unavailable.class, () -> server.figures(LONG)).getMessage();
    assertTrue(told.contains("has ended"), told);
  }

  @Test
  void nobodyWaitsLongerThanHeSays() {
    AskedFigures figures = new AskedFigures();
    assertThrows(
        ErdaException.Unavailable.class, () -> figures.ask(Duration.ofMillis(20), () -> {}));
  }

  @Test
  void whoAskBeforeTheAnswerShareIt() throws Exception {
    AskedFigures figures = new AskedFigures();
    assertThrows(
        ErdaException.Unavailable.class, () -> figures.ask(Duration.ofMillis(1), () -> {}));
    Map<String, Long> answer = Map.of("puts", 3L);
    int[] made = {0};
    // The answer comes while the second one asks, and is made once.
    Map<String, Long> got =
        figures.ask(
            LONG,
            () ->
                figures.answer(() -> {
                  made[0]++;
                  return answer;
                }));
    assertSame(answer, got);
    figures.answer(() -> {
      throw new AssertionError("nobody asks");
    });
    assertEquals(1, made[0]);
  }
}
