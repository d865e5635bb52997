package io.erda.rdma.rings;

import static io.erda.pmem.UncheckedMemory.ALL;

import io.erda.pmem.UncheckedMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Accesses words by absolute address, in memory that this module has mapped or allocated, and whose
 * bounds and lifetime it checks itself.
 *
 * <p>{@link UncheckedMemory} states how much time that saves; a READ makes five accesses. A closed
 * queue pair makes no access, and only closing it releases the memory.
 */
final class Words {
  private static final VarHandle WORD = QueueLayout.WORD;

  /** Addresses of user space, 8-aligned: masked with it they need no check for bounds. */
  private static final long ALIGNED = UncheckedMemory.ADDRESS & -Long.BYTES;

  private Words() {}

  static long acquire(long address) {
    assert (address & 7) == 0 : address;
    return (long) WORD.getAcquire(ALL, address & ALIGNED);
  }

  static void release(long address, long value) {
    assert (address & 7) == 0 : address;
    WORD.setRelease(ALL, address & ALIGNED, value);
  }

  /**
   * Copies whole words: addresses and length are multiples of 8, the ranges don't overlap. Each
   * word is moved by one load and one store.
   */
  static void copy(long fromAddress, long toAddress, int length) {
    assert ((fromAddress | toAddress | length) & 7) == 0
        : length + " bytes from " + fromAddress + " to " + toAddress;
    long from = fromAddress & ALIGNED;
    long to = toAddress & ALIGNED;
    if (length == 3 * Long.BYTES) {
      // A root has three words. The general copy would take ten times the instructions.
      plain(to, plain(from));
      plain(to + 8, plain(from + 8));
      plain(to + 16, plain(from + 16));
    } else {
      MemorySegment.copy(ALL, from, ALL, to, length);
    }
  }

  /**
   * As {@link #copy}, from memory that its owner may close meanwhile.
   *
   * @return false when it is closed
   */
  static boolean copyIfThere(MemorySegment from, long offset, long toAddress, int length) {
    long to = toAddress & ALIGNED;
    try {
      if (length == 3 * Long.BYTES) {
        plain(to, from.get(ValueLayout.JAVA_LONG_UNALIGNED, offset));
        plain(to + 8, from.get(ValueLayout.JAVA_LONG_UNALIGNED, offset + 8));
        plain(to + 16, from.get(ValueLayout.JAVA_LONG_UNALIGNED, offset + 16));
      } else {
        MemorySegment.copy(from, offset, ALL, to, length);
      }
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  static long plain(long address) {
    return ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, address & ALIGNED);
  }

  static void plain(long address, long value) {
    ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, address & ALIGNED, value);
  }
}
