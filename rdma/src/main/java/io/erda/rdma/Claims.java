package io.erda.rdma;

/**
 * Which messages of a requester take effect when one end of the connection has gone. A responder
 * claims messages, and finishes them; a requester that gives up withdraws, and learns which of its
 * messages take effect. Belongs to its queue pair ({@link QueuePair#claims}), and to its thread.
 *
 * <p>Messages are numbered from 1 in the order posted. Of a requester that has withdrawn, those
 * above {@link #claimed()} never take effect; those up to {@link #finished()} have, or never will;
 * those in between may, as long as the responder is at work on them.
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

  /** Whether {@link #claim()} would find the requester there; claims nothing, and is cheap. */
  default boolean isPeerThere() {
    return true;
  }

  /**
   * Says that the claimed messages have taken effect or never will, and that the answers are
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
   * completes in error, and READs behave as after the peer's end. Answers still arrive. Idempotent;
   * {@link QueuePair#close()} does it too.
   */
  default void withdraw() {}

  /**
   * After {@link #withdraw}: the number of the last message that may take effect; {@link
   * Long#MAX_VALUE} where the device can't know. A device that has to ask the other end says so
   * too, until a poll has received the answer.
   */
  default long claimed() {
    return Long.MAX_VALUE;
  }

  /**
   * The number of the last message that the responder has finished. Its answer has arrived by then,
   * if there was room for it.
   */
  default long finished() {
    return 0;
  }
}
