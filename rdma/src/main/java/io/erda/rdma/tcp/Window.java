package io.erda.rdma.tcp;

/**
 * A sender's count of the bytes of messages that are in transit, or wait at the other end. One
 * thread.
 */
final class Window {
  private long sent;
  private long consumed;

  /** Bytes of the window that a message takes. */
  static int bytes(int length) {
    return Frame.MESSAGE_OVERHEAD + Frame.padded(length);
  }

  boolean hasRoom(int length) {
    return sent - consumed + bytes(length) <= Frame.WINDOW_BYTES;
  }

  void send(int length) {
    assert hasRoom(length) : length + " bytes more than the other end has room for";
    sent += bytes(length);
  }

  /**
   * Takes the other end's number of consumed bytes. Returns false when it violates the protocol,
   * because it is less than before, or more than was sent.
   */
  boolean hear(long consumedThere) {
    if (consumedThere < consumed || consumedThere > sent) {
      return false;
    }
    consumed = consumedThere;
    return true;
  }
}
