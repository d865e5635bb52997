package io.erda.hashtable;

import java.lang.foreign.MemorySegment;

/** The 64-bit hash of keys with one seed: XXH3, by any implementation. */
@FunctionalInterface
public interface KeyHashing {
  /**
   * Returns the hash of {@code length} bytes at {@code offset}.
   *
   * @throws IndexOutOfBoundsException when they are not all in the segment
   */
  long of(MemorySegment segment, long offset, long length);
}
