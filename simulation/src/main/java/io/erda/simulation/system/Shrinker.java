package io.erda.simulation.system;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Makes a failing run small: fewer operations, clients and keys, and only the necessary faults.
 *
 * <p>Greedy. A smaller configuration is a different run, because everything is drawn from the seed
 * in order; so each is tried with some seeds, and accepted when one of them fails. It need not fail
 * in the same way: the aim is a readable failure of the same system.
 */
public final class Shrinker {
  /** Runs a configuration with a seed. */
  public interface Simulation {
    RunResult run(long seed, Configuration configuration);
  }

  private static final int SEEDS_EACH_MIN = 24;
  private static final int SEEDS_EACH_MAX = 200;

  /** A run of few operations rarely fails and is quick, so more seeds are tried. */
  private static final int OPERATIONS_EACH = 20_000;

  /** Faults that rarely matter: the first to be left out. */
  private static final Set<Fault> NUISANCES =
      Set.of(
          Fault.SERVER_PAUSE,
          Fault.CLIENT_PAUSE,
          Fault.CLIENT_SLOW,
          Fault.CLIENT_GARBAGE,
          Fault.COMPLETIONS_DELAYED,
          Fault.CLIENT_CRASH,
          Fault.CLIENT_CRASH_IN_POST,
          Fault.DISK_FULL,
          Fault.BYTE_CORRUPTED,
          Fault.OBJECT_MISPLACED,
          Fault.FILE_CUT,
          Fault.DRAIN_FAILED,
          Fault.REMOVAL_FAILED,
          Fault.CAPACITY_RAISED,
          Fault.CAPACITY_LOWERED);

  private final Simulation simulation;
  private int runsLeft;

  /**
   * @param runsMax the most runs to make
   */
  public Shrinker(Simulation simulation, int runsMax) {
    this.simulation = simulation;
    this.runsLeft = runsMax;
  }

  /** The smallest failing run that was found, perhaps {@code failed} itself. */
  public RunResult shrink(RunResult failed) {
    RunResult best = failed;
    boolean smaller = true;
    while (smaller && runsLeft > 0) {
      smaller = false;
      for (Configuration candidate : candidates(best)) {
        RunResult result = tryWith(best.seed(), candidate);
        if (result != null) {
          best = result;
          smaller = true;
          break;
        }
      }
    }
    return best;
  }

  /** Tries the seed that failed, then others. */
  private RunResult tryWith(long seed, Configuration configuration) {
    int seeds =
        Math.clamp(OPERATIONS_EACH / configuration.operations(), SEEDS_EACH_MIN, SEEDS_EACH_MAX);
    for (int i = 0; i < seeds && runsLeft > 0; i++) {
      runsLeft--;
      RunResult result = simulation.run(seed + i, configuration);
      if (result.failure() != null) {
        return result;
      }
    }
    return null;
  }

  private static List<Configuration> candidates(RunResult best) {
    Configuration now = best.configuration();
    int operations = Math.min(now.operations(), best.operations());
    List<Configuration> candidates = new ArrayList<>();
    for (int divisor : new int[] {8, 4, 2}) {
      if (operations / divisor >= 1) {
        candidates.add(now.with(now.clients(), now.keys(), operations / divisor, now.pipeline()));
      }
    }
    if (now.clients() > 1) {
      candidates.add(now.with(1, now.keys(), operations, now.pipeline()));
      candidates.add(now.with(now.clients() - 1, now.keys(), operations, now.pipeline()));
    }
    if (now.keys() > 1) {
      candidates.add(now.with(now.clients(), 1, operations, now.pipeline()));
      candidates.add(now.with(now.clients(), (now.keys() + 1) / 2, operations, now.pipeline()));
    }
    if (now.pipeline() > 1) {
      candidates.add(now.with(now.clients(), now.keys(), operations, 1));
    }
    if (now.mix().conditionalPercent() > 0) {
      candidates.add(now.withMix(now.mix().withoutConditions()));
    }
    if (now.faults().stream().anyMatch(NUISANCES::contains)) {
      Set<Fault> fewer = EnumSet.copyOf(now.faults());
      fewer.removeAll(NUISANCES);
      candidates.add(now.withFaults(fewer));
    }
    for (Fault fault : now.faults()) {
      Set<Fault> fewer = EnumSet.copyOf(now.faults());
      fewer.remove(fault);
      candidates.add(now.withFaults(fewer));
    }
    if (operations > 1 && operations * 3 / 4 < now.operations()) {
      candidates.add(now.with(now.clients(), now.keys(), operations * 3 / 4, now.pipeline()));
    }
    return candidates;
  }
}
