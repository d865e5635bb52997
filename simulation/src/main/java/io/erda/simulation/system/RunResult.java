package io.erda.simulation.system;

import io.erda.simulation.StoreStatistics;
import java.util.Map;
import java.util.Set;

/**
 * What came of one run; {@link RunResultBuilder} makes it.
 *
 * @param operations invoked
 * @param ok of them acknowledged, with a result
 * @param unknown of them of unknown outcome
 * @param simulatedNs virtual time that passed
 * @param crashes of server and clients, by where they struck
 * @param places of the server's production code that called its memory, in runs that watch it; else
 *     empty
 * @param history null, or of a run that failed what everyone did, and what the memory held
 * @param cleanings regions that were cleaned
 * @param doublings of the table
 * @param halvings of the table
 * @param halvingsTurned halvings of the table that found no room and went back
 * @param moves of entries, by what the root counts: one for each table at each start among them
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
    Map<Crash, Long> crashes,
    Set<String> places,
    String history,
    long cleanings,
    long doublings,
    long halvings,
    long halvingsTurned,
    long moves,
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
