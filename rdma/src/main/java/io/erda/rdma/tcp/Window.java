package io.erda.rdma.tcp;

/**
 * Messages in one direction, as their sender sees them: how many bytes of them are on their way, or
 * wait at the other end. One thread.
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
   * The other end says how much it has consumed. Returns false where that can't be: less than it
   * said before, or more than was sent.
   */
  boolean hear(long consumedThere) {
    if (consumedThere < consumed || consumedThere > sent) {
      return false;
    }
    consumed = consumedThere;
    return true;
  }
}
