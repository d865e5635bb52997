package io.erda.pmem;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Describes a file system as statfs(2) does.
 *
 * @param type the number that the kernel has for its kind, {@code TMPFS_MAGIC} for example
 * @param totalBytes 0 where the file system does not say
 * @param unallocatedBytes with what the file system reserves for some users
 * @param usableBytes what this user may take
 */
record FileSystemStatus(long type, long totalBytes, long unallocatedBytes, long usableBytes) {
  // Offsets of struct statfs on 64-bit machines, in bytes.
  private static final long TYPE = 0;
  private static final long BLOCK_BYTES = 8;
  private static final long BLOCKS = 16;
  private static final long BLOCKS_FREE = 24;
  private static final long BLOCKS_AVAILABLE = 32;
  private static final long FRAGMENT_BYTES = 72;

  static FileSystemStatus of(MemorySegment statfs) {
    long fragment = word(statfs, FRAGMENT_BYTES);
    long unit = fragment > 0 ? fragment : word(statfs, BLOCK_BYTES);
    return new FileSystemStatus(
        word(statfs, TYPE),
        unit * word(statfs, BLOCKS),
        unit * word(statfs, BLOCKS_FREE),
        unit * word(statfs, BLOCKS_AVAILABLE));
  }

  private static long word(MemorySegment statfs, long offset) {
    return statfs.get(ValueLayout.JAVA_LONG, offset);
  }
}
