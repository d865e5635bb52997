package io.erda.rdma.tcp;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** The words of a connection that the I/O thread and the server's thread share. */
final class Exchange {
  /**
   * A WRITE with immediate data that took several frames, with the number of its message and its
   * length.
   */
  record LongWrite(long message, int length) {}

  // Stored by the server's thread.

  /** Where the peer may WRITE. */
  final Grants grants = new Grants();

  /** Whether a word of the server's thread has changed; set before the I/O thread is signalled. */
  volatile boolean dirty;

  /** Bytes of the peer's messages that were consumed. */
  volatile long consumed;

  /** Whether the server has closed the connection. */
  volatile boolean closed;

  // Stored by the I/O thread.

  /** The last value of {@link #consumed} that was sent to the peer. */
  volatile long consumedTold;

  /** Whether the peer has withdrawn, and must be told of finished messages. */
  volatile boolean withdrawn;

  /** The long WRITEs, which the server's thread takes in order. */
  final Queue<LongWrite> longWrites = new ConcurrentLinkedQueue<>();
}
