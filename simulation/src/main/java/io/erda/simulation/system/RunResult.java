package io.erda.simulation.system;

import io.erda.simulation.StoreStatistics;
import java.util.Map;

/**
 * What came of one run.
 *
 * @param operations invoked
 * @param ok of them acknowledged, with a result
 * @param unknown of them of unknown outcome
 * @param simulatedNs virtual time that passed
 * @param doublings of the table
 * @param failure null, or what went wrong, for people
 */
public record RunResult(
    long seed,
    Configuration configuration,
    int operations,
    int ok,
    int unknown,
    long simulatedNs,
    Map<Fault, Long> faults,
    StoreStatistics stores,
    long doublings,
    String failure) {
  /** Failure, configuration and how to run it again. */
  public String report() {
    return "seed "
        + seed
        + ": "
        + (failure == null ? "no violation" : failure)
        + "\nconfiguration: "
        + configuration
        + "\nfaults: "
        + faults
        + "\nreplay: -Derda.seed="
        + seed;
  }
}
