package io.erda.simulation.system;

import io.erda.simulation.StoreStatistics;
import java.util.Map;
import java.util.Set;

/**
 * Makes a {@link RunResult} by the names of its components. Components that are not set are those
 * of the result that it began with, or 0, empty or null.
 */
public final class RunResultBuilder {
  private long seed;
  private Configuration configuration;
  private int operations;
  private int ok;
  private int unknown;
  private long simulatedNs;
  private Map<Fault, Long> faults = Map.of();
  private StoreStatistics stores;
  private Map<Crash, Long> crashes = Map.of();
  private Set<String> places = Set.of();
  private String history;
  private long cleanings;
  private long doublings;
  private long halvings;
  private long halvingsTurned;
  private long commitsInside;
  private long commitsOutside;
  private long commitsDefeated;
  private long moves;
  private String failure;

  /** Begins with nothing set. */
  public RunResultBuilder() {}

  RunResultBuilder(RunResult other) {
    seed = other.seed();
    configuration = other.configuration();
    operations = other.operations();
    ok = other.ok();
    unknown = other.unknown();
    simulatedNs = other.simulatedNs();
    faults = other.faults();
    stores = other.stores();
    crashes = other.crashes();
    places = other.places();
    history = other.history();
    cleanings = other.cleanings();
    doublings = other.doublings();
    halvings = other.halvings();
    halvingsTurned = other.halvingsTurned();
    commitsInside = other.commitsInside();
    commitsOutside = other.commitsOutside();
    commitsDefeated = other.commitsDefeated();
    moves = other.moves();
    failure = other.failure();
  }

  public RunResultBuilder seed(long value) {
    seed = value;
    return this;
  }

  public RunResultBuilder configuration(Configuration value) {
    configuration = value;
    return this;
  }

  public RunResultBuilder operations(int value) {
    operations = value;
    return this;
  }

  public RunResultBuilder ok(int value) {
    ok = value;
    return this;
  }

  public RunResultBuilder unknown(int value) {
    unknown = value;
    return this;
  }

  public RunResultBuilder simulatedNs(long value) {
    simulatedNs = value;
    return this;
  }

  public RunResultBuilder faults(Map<Fault, Long> value) {
    faults = value;
    return this;
  }

  public RunResultBuilder stores(StoreStatistics value) {
    stores = value;
    return this;
  }

  public RunResultBuilder crashes(Map<Crash, Long> value) {
    crashes = value;
    return this;
  }

  public RunResultBuilder places(Set<String> value) {
    places = value;
    return this;
  }

  public RunResultBuilder history(String value) {
    history = value;
    return this;
  }

  public RunResultBuilder cleanings(long value) {
    cleanings = value;
    return this;
  }

  /** Sets how often the table was halved, and how often a halving turned around. */
  public RunResultBuilder halvings(long done, long turned) {
    halvings = done;
    halvingsTurned = turned;
    return this;
  }

  public RunResultBuilder doublings(long value) {
    doublings = value;
    return this;
  }

  /** Sets how many puts and deletes clients in the server's process have committed. */
  public RunResultBuilder commitsInside(long value) {
    commitsInside = value;
    return this;
  }

  /**
   * Sets how many puts and deletes clients of other processes have committed, and how many of their
   * commits were ended.
   */
  public RunResultBuilder commitsOutside(long done, long defeated) {
    commitsOutside = done;
    commitsDefeated = defeated;
    return this;
  }

  public RunResultBuilder moves(long value) {
    moves = value;
    return this;
  }

  public RunResultBuilder failure(String value) {
    failure = value;
    return this;
  }

  public RunResult build() {
    return new RunResult(
        seed,
        configuration,
        operations,
        ok,
        unknown,
        simulatedNs,
        faults,
        stores,
        crashes,
        places,
        history,
        cleanings,
        doublings,
        halvings,
        halvingsTurned,
        commitsInside,
        commitsOutside,
        commitsDefeated,
        moves,
        failure);
  }
}
