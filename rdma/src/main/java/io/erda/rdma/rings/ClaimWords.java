package io.erda.rdma.rings;

import java.lang.invoke.VarHandle;

/**
 * Two words that decide which messages of a requester may take effect. The responder stores them,
 * and a requester loads them when it withdraws.
 *
 * <p>The responder claims received messages before any of them takes effect: it stores how many it
 * has received, and then loads the requester's state. A requester that withdraws first stores its
 * state, and then loads that number. On both sides a full fence separates the store from the load,
 * so at least one end notices the other, and a message that was not claimed at that time never
 * takes effect. When the messages have taken effect, and the answers are posted, the responder
 * stores the same number as finished.
 *
 * <p>The other end may be hostile, but only the outcome of the requester's own messages depends on
 * these words.
 */
final class ClaimWords {
  // Absolute addresses of the words, used only while the queue pair is not closed.
  private final long claimedWord;
  private final long finishedWord;

  /** The number that this responder claimed last. */
  private long claimed;

  /** Whether this requester has withdrawn. */
  private boolean withdrawn;

  /** Whether the memory of the words is gone, and zeros are mapped in its place. */
  private boolean lost;

  private long claimedThen;
  private long finishedThen;

  /**
   * @param queue address of the memory that both ends share
   */
  ClaimWords(long queue) {
    claimedWord = queue + QueueLayout.CLAIMED_OFFSET;
    finishedWord = queue + QueueLayout.FINISHED_OFFSET;
  }

  /**
   * Stores that all received messages are claimed. A responder calls it, and checks the requester's
   * state after it.
   */
  void claim(long received) {
    assert received >= claimed : "what was claimed stays claimed: " + claimed;
    claimed = received;
    Words.release(claimedWord, received);
    VarHandle.fullFence();
  }

  /**
   * Stores that all claimed messages are finished. A responder calls it when all of them were
   * handled.
   */
  void finish() {
    Words.release(finishedWord, claimed);
  }

  /**
   * Loads the numbers of claimed and finished messages. A requester calls it after it has stored
   * its state and executed a full fence.
   */
  void withdraw() {
    assert !withdrawn : "a requester withdraws twice";
    if (!lost) {
      claimedThen = Words.acquire(claimedWord);
      finishedThen = Words.acquire(finishedWord);
    }
    // Last: a requester that an error cuts short loads them again.
    withdrawn = true;
  }

  /**
   * Notes that the memory of the words is gone. A requester that had not withdrawn before must
   * assume that all messages were claimed, and that no further message was finished.
   */
  void lose() {
    if (!lost && !withdrawn) {
      claimedThen = Long.MAX_VALUE;
    }
    lost = true;
  }

  boolean isWithdrawn() {
    return withdrawn;
  }

  long claimedThen() {
    return claimedThen;
  }

  /**
   * Returns the present number; when the memory is {@code released}, the number that was last
   * loaded.
   */
  long finished(boolean released) {
    if (!released && !lost) {
      finishedThen = Words.acquire(finishedWord);
    }
    return finishedThen;
  }
}
