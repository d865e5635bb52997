package io.erda.server.engine.service;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

/**
 * Memory for the messages of connections, which later connections use again. To free it would stop
 * every thread of the JVM for a moment each time, in which an embedded server's clients run too.
 * One thread.
 */
final class MessageBuffers {
  /** Kept for later; what is given back beyond that is left to the garbage collector. */
  private static final int KEPT = 64;

  private final long bytes;
  private final ArrayDeque<MemorySegment> free = new ArrayDeque<>();

  MessageBuffers(long bytes) {
    this.bytes = bytes;
  }

  /** Memory full of zeros. */
  MemorySegment take() {
    MemorySegment again = free.poll();
    return again == null ? Arena.ofAuto().allocate(bytes, 64) : again.fill((byte) 0);
  }

  /** Memory that no device uses any more. */
  void giveBack(MemorySegment buffers) {
    if (free.size() < KEPT) {
      free.push(buffers);
    }
  }
}
