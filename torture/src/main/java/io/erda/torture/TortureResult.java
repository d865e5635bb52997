package io.erda.torture;

import java.util.List;

/**
 * What happened.
 *
 * @param embedded openings between two servers, by a process of its own
 * @param slowestAccessNs after a client's kill: the longest put and get of another client
 * @param space what the servers' figures said before they were killed, so it is at least that
 * @param violations empty when all is well; for people
 */
public record TortureResult(
    Servers servers,
    Clients clients,
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
   * @param held were done
   * @param missed were not, because their condition did not hold
   */
  public record Conditions(long held, long missed) {}

  /**
   * What was done to server processes.
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
   * Stores that were opened in a process of their own.
   *
   * @param kills of those processes
   */
  public record Embedded(int openings, int kills) {}

  /**
   * What client processes did.
   *
   * @param pipelinedOperations of asynchronous clients whose handlers throw, submit and close
   * @param sharedOperations of clients that threads hand over and close under each other
   * @param readerOperations of clients that read the store's files alone; over shared memory there
   *     are some
   * @param otherUserOperations of processes of another user, of whatever kind
   * @param callsWithSeveral calls with several keys, of which each key is an operation
   * @param iterations that came to their end
   * @param otherUserLeftOut why there were none of another user; empty when there were
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
   * What happened to the space of all stores.
   *
   * @param regionsFreed by cleaning
   * @param refused requests for want of space
   */
  public record Space(
      int stores, long regionsFreed, long bytesCopied, long doublings, long refused) {}
}
