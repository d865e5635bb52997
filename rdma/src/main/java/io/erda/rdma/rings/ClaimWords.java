package io.erda.rdma.rings;

import java.lang.invoke.VarHandle;

/**
 * Two words that say which messages of a requester may take effect: the responder stores them, and
 * a requester looks at them when it withdraws.
 *
 * <p>The responder claims received messages before any of them takes effect: it stores how many it
 * received, then looks at the requester's state. A requester that withdraws stores its state, then
 * looks at that number. A full fence stands between the store and the load on both sides, so not
 * both can miss the other: a message that was not claimed then never takes effect. When the effects
 * are there, and the answers posted, the responder stores the same number as finished.
 *
 * <p>The other end may be hostile: only the fate of the requester's own messages depends on these
 * words.
 */
final class ClaimWords {
  // Absolute addresses; used only while the queue pair is not closed.
  private final long claimedWord;
  private final long finishedWord;

  /** The number that this responder claimed last. */
  private long claimed;

  /** Whether this requester has withdrawn. */
  private boolean withdrawn;

  /** Whether the words are gone, and zeros in their place. */
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

  /** A responder calls it, and looks at the requester's state after it. */
  void claim(long received) {
    assert received >= claimed : "what was claimed stays claimed: " + claimed;
    claimed = received;
    Words.release(claimedWord, received);
    VarHandle.fullFence();
  }

  /** A responder calls it when all claimed messages were dealt with. */
  void finish() {
    Words.release(finishedWord, claimed);
  }

  /** A requester calls it after it stored its state, behind a full fence. */
  void withdraw() {
    assert !withdrawn : "a requester withdraws twice";
    withdrawn = true;
    if (!lost) {
      claimedThen = Words.acquire(claimedWord);
      finishedThen = Words.acquire(finishedWord);
    }
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

  /** The newest number, or the last one that was seen when the memory was {@code released}. */
  long finished(boolean released) {
    if (!released && !lost) {
      finishedThen = Words.acquire(finishedWord);
    }
    return finishedThen;
  }
}
