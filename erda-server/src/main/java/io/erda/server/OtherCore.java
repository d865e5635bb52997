package io.erda.server;

import io.erda.pmem.libc.Libc;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Moves the calling thread to another core among those that it may use, by removing its current
 * core from its affinity mask for a moment. The mask is the same afterwards. Linux; one thread.
 */
final class OtherCore {
  /** Room for 1,024 processors, as in the C library. */
  private static final int MASK_BYTES = 128;

  private final MemorySegment mask = Arena.ofAuto().allocate(MASK_BYTES, 8);

  /** Moves the thread. Returns false when there is no other core, or the kernel refuses. */
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
