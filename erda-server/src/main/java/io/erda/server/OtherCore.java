package io.erda.server;

import io.erda.pmem.libc.Libc;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Takes the calling thread to another core of those that it may use: by leaving its own out of them
 * for a moment. What it may use is the same afterwards. Linux; one thread.
 */
final class OtherCore {
  /** Room for 1,024 processors, as the C library has it. */
  private static final int MASK_BYTES = 128;

  private final MemorySegment mask = Arena.ofAuto().allocate(MASK_BYTES, 8);

  /** Returns whether it did: not where there is no other, or the kernel refuses. */
  boolean take() {
    int cpu = Libc.currentProcessor();
    mask.fill((byte) 0);
    if (cpu < 0 || cpu >= MASK_BYTES * Byte.SIZE || Libc.processors(mask) < 0) {
      return false;
    }
    long at = cpu / Byte.SIZE;
    byte with = mask.get(ValueLayout.JAVA_BYTE, at);
    mask.set(ValueLayout.JAVA_BYTE, at, (byte) (with & ~(1 << cpu % Byte.SIZE)));
    if (isEmpty() || Libc.setProcessors(mask) < 0) {
      return false;
    }
    mask.set(ValueLayout.JAVA_BYTE, at, with);
    return Libc.setProcessors(mask) >= 0;
  }

  private boolean isEmpty() {
    for (long at = 0; at < MASK_BYTES; at += Long.BYTES) {
      if (mask.get(ValueLayout.JAVA_LONG, at) != 0) {
        return false;
      }
    }
    return true;
  }
}
