package io.erda.simulation.system;

import io.erda.simulation.StoreStatistics;
import java.util.Map;
import java.util.Set;

/**
 * The result of one run; {@link RunResultBuilder} makes it.
 *
 * @param operations invoked
 * @param ok operations acknowledged, with a result
 * @param unknown operations of unknown outcome
 * @param simulatedNs virtual time that passed
 * @param crashes of server and clients, by place
 * @param places of the server's production code that called its memory, in runs that record them;
 *     else empty
 * @param history null, or for a failed run the history and the content of the memory
 * @param cleanings regions that were cleaned
 * @param doublings of the table
 * @param halvings of the table
 * @param halvingsTurned halvings of the table that found no room and went back
 * @param commitsInside puts and deletes that clients in the server's process have committed
 * @param commitsOutside puts and deletes that clients of other processes have committed
 * @param commitsDefeated commits of such clients that were ended because these were stopped
 * @param moves of entries, as the root counts them, including one for each table at each start
 * @param failure null, or a description of the failure
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
    long commitsInside,
    long commitsOutside,
    long commitsDefeated,
    long moves,
    String failure) {
  /** The failure, the configuration, and the command that runs it again. */
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
