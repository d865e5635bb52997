package io.erda.pmem;

import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/**
 * Describes a file by the result of statx(2), which has the same layout on all machines.
 *
 * @param device the number of its file system
 * @param mode type and permissions
 * @param links how many names it has; 0 when the last one was removed
 * @param bytes its length
 * @param allocatedBytes the space that it takes; less than its length where it has holes
 */
record FileStatus(
    long device,
    long inode,
    int mode,
    int links,
    long bytes,
    long allocatedBytes,
    int userId,
    int groupId) {
  private static final int STATX_BYTES = 256;

  private static final int TYPE = 0170000;
  private static final int REGULAR = 0100000;
  private static final int DIRECTORY = 0040000;

  // Offsets of linux/stat.h.
  private static final long LINKS = 16;
  private static final long USER = 20;
  private static final long GROUP = 24;
  private static final long MODE = 28;
  private static final long INODE = 32;
  private static final long SIZE = 40;
  private static final long BLOCKS = 48;
  private static final long DEVICE_MAJOR = 136;
  private static final long DEVICE_MINOR = 140;

  private static final int BLOCK_BYTES = 512;

  /** Describes an open file. */
  static FileStatus of(int descriptor, Path file) throws IOException {
    return of(descriptor, "", Libc.AT_EMPTY_PATH, file);
  }

  /**
   * Describes the file that {@code name} leads to in an open directory.
   *
   * @param flags the flags for {@link Libc#status}
   * @param file its path in messages
   * @throws java.nio.file.NoSuchFileException when nothing has the name
   */
  static FileStatus of(int directory, String name, int flags, Path file) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment statx = arena.allocate(STATX_BYTES, Long.BYTES);
      FileErrors.check("statx", Libc.status(directory, name, flags, statx), file);
      return new FileStatus(
          (long) statx.get(ValueLayout.JAVA_INT, DEVICE_MAJOR) << Integer.SIZE
              | Integer.toUnsignedLong(statx.get(ValueLayout.JAVA_INT, DEVICE_MINOR)),
          statx.get(ValueLayout.JAVA_LONG, INODE),
          Short.toUnsignedInt(statx.get(ValueLayout.JAVA_SHORT, MODE)),
          statx.get(ValueLayout.JAVA_INT, LINKS),
          statx.get(ValueLayout.JAVA_LONG, SIZE),
          statx.get(ValueLayout.JAVA_LONG, BLOCKS) * BLOCK_BYTES,
          statx.get(ValueLayout.JAVA_INT, USER),
          statx.get(ValueLayout.JAVA_INT, GROUP));
    }
  }

  boolean isRegular() {
    return (mode & TYPE) == REGULAR;
  }

  boolean isDirectory() {
    return (mode & TYPE) == DIRECTORY;
  }

  /**
   * Whether both describe one file. While a file is open no other file has its device and inode
   * numbers.
   */
  boolean isSameAs(FileStatus other) {
    return device == other.device && inode == other.inode;
  }
}
