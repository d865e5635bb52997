package io.erda.simulation.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.simulation.Seeds;
import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

final class SystemSimulationTest {
  @Test
  void freshSeeds() {
    Map<Fault, Long> faults = new EnumMap<>(Fault.class);
    long[] sums = new long[4];
    int runs = Integer.getInteger("erda.runs", 240);
    Seeds.each(
        runs,
        seed -> {
          RunResult result = SystemSimulation.of(seed).run();
          assertNull(result.failure(), result::report);
          result.faults().forEach((fault, count) -> faults.merge(fault, count, Long::sum));
          sums[0] += result.operations();
          sums[1] += result.ok();
          sums[2] += result.unknown();
          sums[3] += result.cleanings();
        });
    System.out.println(
        runs
            + " runs, "
            + sums[0]
            + " operations, "
            + sums[1]
            + " ok, "
            + sums[2]
            + " unknown; "
            + sums[3]
            + " regions cleaned; "
            + faults);
    if (Long.getLong("erda.seed") == null) {
      assertEquals(
          Fault.values().length, faults.size(), () -> "never injected: all but " + faults.keySet());
      assertTrue(sums[1] > sums[0] / 4, "hardly anything succeeds");
      assertTrue(sums[3] > runs, "hardly anything is cleaned");
    }
  }

  /** Contention finds what size does not. */
  @Test
  void aFifthOfTheRunsAreLongAndContended() {
    int seeds = 2000;
    long contended =
        LongStream.range(0, seeds)
            .mapToObj(seed -> Configuration.random(new SplittableRandom(seed)))
            .filter(
                drawn -> drawn.operations() >= 1000 && drawn.clients() >= 3 && drawn.keys() <= 8)
            .count();
    assertTrue(contended >= seeds / 5, contended + " of " + seeds);
  }

  @Test
  void aSeedIsReplayedExactly() {
    for (long seed = 1; seed <= 5; seed++) {
      assertEquals(
          SystemSimulation.of(seed).run().toString(), SystemSimulation.of(seed).run().toString());
    }
  }

  /**
   * Two keys share a key word. One has an entry in the new table, the other an announced one in the
   * old table, at whose place there are the bytes of an earlier object of the first key. The rules
   * took the two for copies of one entry.
   */
  @Test
  void anAnnouncedTwinIsNoOriginalOfACopy() {
    for (long seed : new long[] {8484030739748734038L, 8484030739748734093L}) {
      RunResult result = SystemSimulation.of(seed).run();
      assertNull(result.failure(), result::report);
    }
  }
}
