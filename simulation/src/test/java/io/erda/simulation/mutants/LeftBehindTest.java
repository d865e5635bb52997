package io.erda.simulation.mutants;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;

/** Whoever opens a store takes over from the clients of the server before: they may be storing. */
final class LeftBehindTest {
  private static final int SEEDS_MAX = 600;
  private static final int SEEDS_SOUND = 20;

  @Test
  void clientsOfAServerThatDiedHarmNobodyWhoOpensTheStore() {
    LongFunction<String> sound = seeds(List.of());
    for (long seed = 1; seed <= SEEDS_SOUND; seed++) {
      assertNull(sound.apply(seed), "seed " + seed);
    }
  }

  @Test
  void anEmbeddedOpeningThatFencesNobodyIsFound() {
    Mutant mutant =
        Mutants.ALL.stream()
            .filter(each -> each.name().equals("embedded opening fences nobody"))
            .findAny()
            .orElseThrow();
    LongFunction<String> simulation = seeds(mutant.patches().get());
    String failure = null;
    for (long seed = 1; seed <= SEEDS_MAX && failure == null; seed++) {
      failure = simulation.apply(seed);
      if (failure != null) {
        System.out.println("found by seed " + seed + ": " + failure.lines().findFirst().orElse(""));
      }
    }
    assertNotNull(failure, "not found by " + SEEDS_MAX + " seeds");
  }

  @SuppressWarnings("unchecked")
  private static LongFunction<String> seeds(List<Patch> patches) {
    try {
      return (LongFunction<String>)
          new PatchedLoader(patches)
              .loadClass(LeftBehindSeed.class.getName())
              .getDeclaredConstructor()
              .newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
