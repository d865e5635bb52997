package io.erda.rdma;

/**
 * Decides which messages of a requester take effect when one end of the connection has ended. A
 * responder claims messages, and later finishes them. A requester that gives up withdraws, and
 * learns which of its messages take effect. Belongs to its queue pair ({@link QueuePair#claims})
 * and to the queue pair's thread.
 *
 * <p>Messages are numbered from 1 in the order in which they were posted. After a requester has
 * withdrawn, its messages above {@link #claimed()} never take effect. Messages up to {@link
 * #finished()} have taken effect, or never will. Messages in between may take effect as long as the
 * responder is working on them.
 */
public interface Claims {
  // The responder.

  /**
   * Claims all messages that were received, before any of them takes effect. Returns false when the
   * requester withdrew, closed or is known to have died; then none of them may take effect. On a
   * device that can't know this for sure, {@link #claimed()} tells the requester that it is
   * unknown.
   */
  default boolean claim() {
    return true;
  }

  /**
   * Whether the requester is still connected, so that {@link #claim()} would return true. Claims
   * nothing, and is cheap.
   */
  default boolean isPeerThere() {
    return true;
  }

  /**
   * Notes that each claimed message has taken effect or never will, and that the answers are
   * posted.
   */
  default void finish() {}

  // The requester.

  /** The number of the message that was posted last; 0 before the first. */
  default long sent() {
    return 0;
  }

  /**
   * Takes back the messages that the responder did not claim. Work that is posted from now on
   * completes with an error, and READs behave as after the end of the peer. Answers still arrive.
   * Idempotent; {@link QueuePair#close()} does it too.
   */
  default void withdraw() {}

  /**
   * Returns, after {@link #withdraw}, the number of the last message that may take effect; {@link
   * Long#MAX_VALUE} when the device can't know it. A device that has to ask the other end also
   * returns {@link Long#MAX_VALUE} until a poll has received the answer.
   */
  default long claimed() {
    return Long.MAX_VALUE;
  }

  /**
   * Returns the number of the last message that the responder has finished. Its answer has already
   * arrived, if there was room for it.
   */
  default long finished() {
    return 0;
  }
}
