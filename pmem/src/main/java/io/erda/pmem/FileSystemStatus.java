package io.erda.pmem;

import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/**
 * Describes a file system as statfs(2) does.
 *
 * @param type the kernel's number for this type of file system, {@code TMPFS_MAGIC} for example
 * @param totalBytes total size; 0 when the file system does not report it
 * @param unallocatedBytes free bytes, with those that the file system reserves for some users
 * @param usableBytes free bytes that this user may take
 * @param totalFiles how many files it can have; 0 when there is no limit
 * @param usableFiles how many more files it can have
 * @param flags mount flags
 */
public record FileSystemStatus(
    long type,
    long totalBytes,
    long unallocatedBytes,
    long usableBytes,
    long totalFiles,
    long usableFiles,
    long flags) {
  // Offsets of struct statfs on 64-bit machines, in bytes.
  private static final long TYPE = 0;
  private static final long BLOCK_BYTES = 8;
  private static final long BLOCKS = 16;
  private static final long BLOCKS_FREE = 24;
  private static final long BLOCKS_AVAILABLE = 32;
  private static final long FILES = 40;
  private static final long FILES_FREE = 48;
  private static final long FRAGMENT_BYTES = 72;
  private static final long FLAGS = 80;

  private static final int NO_EXEC = 8;

  /** The struct has 120 bytes, on every 64-bit machine. */
  private static final int STRUCT_BYTES = 256;

  /** Describes the file system of an open file; null where the call fails. */
  static FileSystemStatus of(int descriptor) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment statfs = arena.allocate(STRUCT_BYTES, Long.BYTES);
      return Libc.fileSystem(descriptor, statfs) < 0 ? null : of(statfs);
    }
  }

  /** Describes the file system of a file. */
  public static FileSystemStatus of(Path file) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment statfs = arena.allocate(STRUCT_BYTES, Long.BYTES);
      FileErrors.check("statfs", Libc.fileSystem(file.toString(), statfs), file);
      return of(statfs);
    }
  }

  private static FileSystemStatus of(MemorySegment statfs) {
    long fragment = word(statfs, FRAGMENT_BYTES);
    long unit = fragment > 0 ? fragment : word(statfs, BLOCK_BYTES);
    return new FileSystemStatus(
        word(statfs, TYPE),
        unit * word(statfs, BLOCKS),
        unit * word(statfs, BLOCKS_FREE),
        unit * word(statfs, BLOCKS_AVAILABLE),
        word(statfs, FILES),
        word(statfs, FILES_FREE),
        word(statfs, FLAGS));
  }

  /**
   * Whether the file system is mounted so that programs and libraries on it can't be run or loaded.
   */
  public boolean isNoExec() {
    return (flags & NO_EXEC) != 0;
  }

  private static long word(MemorySegment statfs, long offset) {
    return statfs.get(ValueLayout.JAVA_LONG, offset);
  }
}
