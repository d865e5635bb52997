package io.erda.rdma.tcp;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** The words by which the I/O thread and the server's thread tell each other of a connection. */
final class Exchange {
  /** A WRITE with immediate data that took several frames: its message's number and length. */
  record LongWrite(long message, int length) {}

  // By the server's thread.

  /** Where the peer may WRITE. */
  final Grants grants = new Grants();

  /**
   * There is something to be looked at: set when it is there, before the I/O thread is signalled.
   */
  volatile boolean dirty;

  /** Bytes of the peer's messages that were consumed. */
  volatile long consumed;

  /** The server wants nothing more of this peer. */
  volatile boolean closed;

  // By the I/O thread.

  /** The value of {@link #consumed} that the peer was told last. */
  volatile long consumedTold;

  /** The peer has withdrawn, and wants to hear of what is finished. */
  volatile boolean withdrawn;

  /** The server's thread takes them in order. */
  final Queue<LongWrite> longWrites = new ConcurrentLinkedQueue<>();
}
