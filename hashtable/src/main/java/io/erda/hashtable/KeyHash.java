package io.erda.hashtable;

import java.lang.foreign.MemorySegment;

/** The 64-bit hash of keys, seeded per store: XXH3 of the Zero-Allocation-Hashing library over {@link MemorySegment}. Immutable, thread-safe. */
public final class KeyHash {
  public KeyHash(long seed) {
    throw new UnsupportedOperationException("to be written");
  }

  /** Hash of {@code length} bytes of {@code segment} (heap or native) at {@code offset}. Allocates nothing. */
  public long of(MemorySegment segment, long offset, long length) {
    throw new UnsupportedOperationException("to be written");
  }
}
