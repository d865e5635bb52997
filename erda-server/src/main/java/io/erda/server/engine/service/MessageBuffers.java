package io.erda.server.engine.service;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

/**
 * Memory for the messages of connections, which is reused for later connections. Freeing it would
 * stop every thread of the JVM for a moment, including those of an embedded server's clients. One
 * thread.
 */
final class MessageBuffers {
  /** How many buffers are kept; further ones are left to the garbage collector. */
  private static final int KEPT = 64;

  private final long bytes;
  private final ArrayDeque<MemorySegment> free = new ArrayDeque<>();

  MessageBuffers(long bytes) {
    this.bytes = bytes;
  }

  /** Whether {@link #take} needs no new memory. */
  boolean hasSpare() {
    return !free.isEmpty();
  }

  /** Memory full of zeros. */
  MemorySegment take() {
    MemorySegment again = free.poll();
    return again == null ? Arena.ofAuto().allocate(bytes, 64) : again.fill((byte) 0);
  }

  /** Takes back memory that no device uses any more. */
  void giveBack(MemorySegment buffers) {
    if (free.size() < KEPT) {
      free.push(buffers);
    }
  }
}
