package io.erda.rdma.tcp;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** The words of a connection that the I/O thread and the server's thread share. */
final class Exchange {
  /** A WRITE with immediate data that took several frames: its message's number and length. */
  record LongWrite(long message, int length) {}

  // Stored by the server's thread.

  /** Where the peer may WRITE. */
  final Grants grants = new Grants();

  /** Set after another word has changed and before the I/O thread is signalled. */
  volatile boolean dirty;

  /** Bytes of the peer's messages that were consumed. */
  volatile long consumed;

  /** The server has closed the connection. */
  volatile boolean closed;

  // Stored by the I/O thread.

  /** The last value of {@link #consumed} that was sent to the peer. */
  volatile long consumedTold;

  /** The peer has withdrawn, and wants to be told of finished messages. */
  volatile boolean withdrawn;

  /** The server's thread takes them in order. */
  final Queue<LongWrite> longWrites = new ConcurrentLinkedQueue<>();
}
