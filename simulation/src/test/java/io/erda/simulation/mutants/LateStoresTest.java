package io.erda.simulation.mutants;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;

/** Rule 10: a file is used again only when nobody can store there any more. */
final class LateStoresTest {
  private static final int SEEDS_MAX = 1500;
  private static final int SEEDS_SOUND = 40;

  @Test
  void nothingLandsInARegionThatIsNotItsWritersAnyMore() {
    LongFunction<String> sound = seeds(List.of());
    for (long seed = 1; seed <= SEEDS_SOUND; seed++) {
      assertNull(sound.apply(seed), "seed " + seed);
    }
  }

  @Test
  void aFileThatIsUsedAgainBeforeItsWritersLeftIsFound() {
    assertFound("file used again at once");
  }

  @Test
  void aStrangerThatIsForgottenIsFound() {
    assertFound("strangers forgotten");
  }

  private static void assertFound(String name) {
    Mutant mutant =
        Mutants.ALL.stream().filter(each -> each.name().equals(name)).findAny().orElseThrow();
    LongFunction<String> simulation = seeds(mutant.patches().get());
    String failure = null;
    for (long seed = 1; seed <= SEEDS_MAX && failure == null; seed++) {
      failure = simulation.apply(seed);
      if (failure != null) {
        System.out.println(
            name + ": found by seed " + seed + ": " + failure.lines().findFirst().orElse(""));
      }
    }
    assertNotNull(failure, name + ": not found by " + SEEDS_MAX + " seeds");
  }

  @SuppressWarnings("unchecked")
  private static LongFunction<String> seeds(List<Patch> patches) {
    try {
      return (LongFunction<String>)
          new PatchedLoader(patches)
              .loadClass(LateStoresSeed.class.getName())
              .getDeclaredConstructor()
              .newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
