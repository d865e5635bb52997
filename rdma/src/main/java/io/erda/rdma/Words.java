package io.erda.rdma;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * Words by absolute address, in memory that this module mapped or allocated itself and whose bounds
 * and life it checks itself.
 *
 * <p>A load through a segment that is a constant costs the load; one through a segment in a field
 * costs some 2 ns of checks, and a READ makes five of them. The price: an address of memory that
 * was released kills the process. So nothing is loaded or stored here on a queue pair that is
 * closed, and closing it is what releases the memory.
 */
@SuppressWarnings("restricted")
final class Words {
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
  private static final VarHandle WORD = QueueLayout.WORD;

  private Words() {}

  static long acquire(long address) {
    return (long) WORD.getAcquire(ALL, address);
  }

  static void release(long address, long value) {
    WORD.setRelease(ALL, address, value);
  }

  /**
   * Copies whole words: addresses and length are multiples of 8, the ranges don't overlap. Each
   * word is moved by one load and one store.
   */
  static void copy(long from, long to, int length) {
    MemorySegment.copy(ALL, from, ALL, to, length);
  }

  static void plain(long address, long value) {
    WORD.set(ALL, address, value);
  }
}
