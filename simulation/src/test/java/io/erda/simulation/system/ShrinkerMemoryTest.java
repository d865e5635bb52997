package io.erda.simulation.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Shrinking a failing run takes only as much memory as one run, however many runs it makes. */
final class ShrinkerMemoryTest {
  private static final int RUNS = 40;
  private static final int FIRST_RUNS = 10;

  /** The dead processes of one run hold at least this much memory before the run is over. */
  private static final long GROWTH_BYTES_MAX = 4 << 20;

  private int runs;
  private long before;
  private long after;

  @Test
  void nothingOfARunIsKept() {
    RunResult failed = asFailed(SystemSimulation.of(1).run());
    new Shrinker(
            (seed, configuration) -> {
              runs++;
              if (runs == FIRST_RUNS) {
                before = liveBytes();
              } else if (runs == RUNS) {
                after = liveBytes();
              }
              return SystemSimulation.of(seed, configuration).run();
            },
            RUNS)
        .shrink(failed);
    assertEquals(RUNS, runs);
    assertTrue(after - before < GROWTH_BYTES_MAX, before + " bytes, then " + after);
  }

  private static long liveBytes() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  private static RunResult asFailed(RunResult run) {
    return new RunResultBuilder(run).failure("made up").build();
  }

  /**
   * Dead processes are held until their run is over, so a run must not start processes without end.
   */
  @Test
  void aRunWithTooManyProcessesFails() {
    Configuration configuration = Configuration.random(new SplittableRandom(1));
    World world = new World(1, configuration, new ErdaUnderTest(configuration));
    for (int i = 1; i < World.PROCESSES_MAX; i++) {
      world.onEnd(() -> {});
    }
    assertFalse(world.failed());
    world.onEnd(() -> {});
    assertTrue(world.failed());
    assertTrue(world.workload.isDone(), "the run ends");
    world.end();
  }
}
