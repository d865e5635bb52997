package io.erda.torture;

import java.util.List;

/**
 * The result of a run.
 *
 * @param commits of updates by clients
 * @param embedded openings by other processes between two servers
 * @param slowestAccessNs after a client's kill: the longest put and get of another client
 * @param space from the servers' figures before they were killed, so a lower bound
 * @param violations messages for people; empty when there are none
 */
public record TortureResult(
    Servers servers,
    Clients clients,
    Commits commits,
    Embedded embedded,
    int operations,
    int unknownOutcomes,
    Conditions conditions,
    long slowestAccessNs,
    Space space,
    Wire wire,
    List<String> violations) {
  public TortureResult {
    violations = List.copyOf(violations);
  }

  /**
   * Puts and deletes with a condition whose outcome is known.
   *
   * @param held number that were done
   * @param missed number that were not, because their condition did not hold
   */
  public record Conditions(long held, long missed) {}

  /**
   * The faults of server processes.
   *
   * @param killsInCleaning kills after which the next server found a cleaning to go on with
   * @param killsInDoubling the same of a doubling or halving of the table
   * @param stopsAcrossRestart clients that were stopped while a server was killed and another began
   */
  public record Servers(
      int kills,
      int killsInRecovery,
      int killsInCleaning,
      int killsInDoubling,
      int stopsAcrossRestart) {}

  /**
   * Updates and deletes that clients of servers committed by themselves, from the servers' figures
   * before they were killed, so a lower bound.
   *
   * @param stops of clients for some milliseconds, so that some stand within a commit
   * @param defeated commits that a server ended because their client had been stopped
   */
  public record Commits(int stops, long commits, long defeated) {}

  /**
   * Openings of stores by other processes.
   *
   * @param kills of those processes
   */
  public record Embedded(int openings, int kills) {}

  /**
   * The work of client processes.
   *
   * @param pipelinedOperations of asynchronous clients whose handlers throw, submit and close
   * @param sharedOperations of clients that threads hand over and close under each other
   * @param readerOperations of clients that only read the store's files; only over shared memory
   * @param otherUserOperations of processes of another user, of whatever kind
   * @param callsWithSeveral calls with several keys, each key of which is an operation
   * @param iterations that came to their end
   * @param otherUserLeftOut why there were no operations of another user; empty when there were
   *     some
   */
  public record Clients(
      int kills,
      int pipelinedKills,
      int sharedKills,
      int readerKills,
      int otherUserKills,
      long pipelinedOperations,
      long sharedOperations,
      long readerOperations,
      long otherUserOperations,
      long callsWithSeveral,
      long iterations,
      String otherUserLeftOut) {}

  /** The faults that connections between clients and servers over TCP have met. */
  public record Wire(long flips, long cuts, long stalls) {}

  /**
   * The use of space in all stores.
   *
   * @param regionsFreed by cleaning
   * @param refused number of requests refused for lack of space
   */
  public record Space(
      int stores, long regionsFreed, long bytesCopied, long doublings, long refused) {}
}
