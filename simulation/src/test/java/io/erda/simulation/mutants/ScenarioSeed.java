package io.erda.simulation.mutants;

import io.erda.simulation.system.Configuration;
import io.erda.simulation.system.Scenarios;
import io.erda.simulation.system.SystemSimulation;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongFunction;
import java.util.random.RandomGenerator;

/**
 * Runs a seed in a run of one kind, instead of the kind that the seed would have drawn. Like {@link
 * PatchedSeed} it is loaded by a {@link PatchedLoader}.
 */
public final class ScenarioSeed implements LongFunction<String> {
  /** The kinds of runs. */
  enum Scenario {
    /** Puts announce first, in a run like any other. */
    ANNOUNCING {
      @Override
      Configuration configuration(RandomGenerator random) {
        return Configuration.random(random).announcing();
      }
    },
    /** Puts announce first, and what clients store lands late. */
    LATE_WRITERS {
      @Override
      Configuration configuration(RandomGenerator random) {
        return Scenarios.lateWriters(random);
      }
    },
    /** Puts announce first, and what clients store lands between two looks of the server. */
    BETWEEN_LOOKS {
      @Override
      Configuration configuration(RandomGenerator random) {
        return Configuration.random(random).announcing();
      }

      @Override
      List<Patch> interruptions() {
        return Looks.PATCHES.get();
      }
    },
    /** Entries are displaced beside iterations. */
    ITERATED {
      @Override
      Configuration configuration(RandomGenerator random) {
        return Scenarios.displacedBesideIterations(random);
      }
    },
    /** Keys come and go, and tables become smaller. */
    SHRINKING {
      @Override
      Configuration configuration(RandomGenerator random) {
        return Scenarios.tablesThatShrink(random);
      }
    },
    /** Clients of embedded stores commit beside each other. */
    COMMITTING {
      @Override
      Configuration configuration(RandomGenerator random) {
        return Scenarios.committing(random);
      }

      @Override
      List<Patch> interruptions() {
        return Looks.BEFORE_SWAPS.get();
      }
    },
    /** Clients of other processes commit, and are stopped in the middle. */
    COMMITTING_OUTSIDE {
      @Override
      Configuration configuration(RandomGenerator random) {
        return Scenarios.committingOutside(random);
      }
    },
    /** Connections are lost while batches wait for the device. */
    LEAVING {
      @Override
      Configuration configuration(RandomGenerator random) {
        return Scenarios.leavingInTheMiddle(random);
      }
    };

    abstract Configuration configuration(RandomGenerator random);

    /** The patches of the server that let others go on in the middle of its steps. */
    List<Patch> interruptions() {
      return List.of();
    }

    /** Runs of this kind with these defects. */
    LongFunction<String> runs(List<Patch> defects, boolean rules) {
      // First, because a defect may take the place of the call before which others go on.
      List<Patch> patches = new ArrayList<>(interruptions());
      patches.addAll(defects);
      return PatchedLoader.make(patches, ScenarioSeed.class, name(), rules);
    }
  }

  private final Scenario scenario;
  private final boolean rules;

  /**
   * @param scenario the name of one
   * @param rules whether stores to version words are watched
   */
  public ScenarioSeed(String scenario, boolean rules) {
    this.scenario = Scenario.valueOf(scenario);
    this.rules = rules;
  }

  @Override
  public String apply(long seed) {
    SystemSimulation simulation =
        SystemSimulation.of(seed, scenario.configuration(new SplittableRandom(seed)));
    return Looks.during(rules ? simulation : simulation.withoutWordRules());
  }
}
