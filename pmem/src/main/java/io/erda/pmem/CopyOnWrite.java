package io.erda.pmem;

import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Finds out whether a store to allocated space needs new space. This is so on btrfs, which writes
 * overwritten blocks to another place unless an attribute of the file forbids it. It is also so for
 * blocks that two files share (snapshots, {@code cp --reflink}), which XFS has too.
 */
public final class CopyOnWrite {
  // Constants of linux/magic.h, linux/fs.h and linux/fiemap.h.
  private static final long BTRFS = 0x9123683EL;
  private static final long GET_FLAGS = 0x80086601L;
  private static final long SET_FLAGS = 0x40086602L;
  private static final int NO_COW = 0x0080_0000;
  private static final long FIEMAP = 0xC020660BL;
  private static final int EXTENT_LAST = 1;
  private static final int EXTENT_SHARED = 0x2000;
  private static final int HEADER_BYTES = 32;
  private static final int EXTENT_BYTES = 56;

  /** The number of extents that one call reads. */
  private static final int EXTENTS = 64;

  /**
   * The largest number of calls for one file. The result is only a note for the user, so it may be
   * incomplete.
   */
  private static final int CALLS = 64;

  private CopyOnWrite() {}

  /**
   * Asks the file system not to copy overwritten blocks of files that are made in a directory from
   * now on. Existing files stay as they are, and so does a directory whose files are compressed.
   */
  public static void avoid(Path directory) {
    int descriptor = Libc.open(directory, Libc.O_RDONLY | Libc.O_DIRECTORY);
    if (descriptor < 0) {
      return;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment flags = arena.allocate(ValueLayout.JAVA_LONG);
      if (isBtrfs(descriptor)
          && Libc.ioctl(descriptor, GET_FLAGS, flags) >= 0
          && (flags.get(ValueLayout.JAVA_INT, 0) & NO_COW) == 0) {
        flags.set(ValueLayout.JAVA_INT, 0, flags.get(ValueLayout.JAVA_INT, 0) | NO_COW);
        // The result is ignored: if this failed, look() reports that stores may need new space.
        Libc.ioctl(descriptor, SET_FLAGS, flags);
      }
    } finally {
      Libc.close(descriptor);
    }
  }

  /**
   * Returns why a store to an allocated file of a directory may need new space, in words. Returns
   * null when no store needs any, or when the file system does not tell.
   */
  public static String look(Path directory) {
    try {
      return Listing.names(directory).stream()
          .map(directory::resolve)
          .filter(Files::isRegularFile)
          .sorted()
          .map(CopyOnWrite::lookAt)
          .filter(found -> found != null)
          .findFirst()
          .orElse(null);
    } catch (IOException e) {
      return null;
    }
  }

  private static String lookAt(Path file) {
    int descriptor = Libc.open(file, Libc.O_RDONLY);
    if (descriptor < 0) {
      return null;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment flags = arena.allocate(ValueLayout.JAVA_LONG);
      if (isBtrfs(descriptor)
          && Libc.ioctl(descriptor, GET_FLAGS, flags) >= 0
          && (flags.get(ValueLayout.JAVA_INT, 0) & NO_COW) == 0) {
        return file + " is copied by btrfs when it is overwritten";
      }
      return sharesExtents(descriptor, arena)
          ? file + " shares blocks with another file (a snapshot, or a copy with --reflink)"
          : null;
    } finally {
      Libc.close(descriptor);
    }
  }

  private static boolean isBtrfs(int descriptor) {
    FileSystemStatus status = FileSystemStatus.of(descriptor);
    return status != null && status.type() == BTRFS;
  }

  private static boolean sharesExtents(int descriptor, Arena arena) {
    MemorySegment map = arena.allocate(HEADER_BYTES + EXTENTS * EXTENT_BYTES, Long.BYTES);
    long start = 0;
    for (int call = 0; call < CALLS; call++) {
      map.fill((byte) 0);
      map.set(ValueLayout.JAVA_LONG, 0, start);
      map.set(ValueLayout.JAVA_LONG, 8, -1L);
      map.set(ValueLayout.JAVA_INT, 24, EXTENTS);
      if (Libc.ioctl(descriptor, FIEMAP, map) < 0) {
        return false;
      }
      int mapped = map.get(ValueLayout.JAVA_INT, 20);
      for (int i = 0; i < mapped; i++) {
        long at = HEADER_BYTES + (long) i * EXTENT_BYTES;
        int flags = map.get(ValueLayout.JAVA_INT, at + 40);
        if ((flags & EXTENT_SHARED) != 0) {
          return true;
        }
        if ((flags & EXTENT_LAST) != 0) {
          return false;
        }
        start = map.get(ValueLayout.JAVA_LONG, at) + map.get(ValueLayout.JAVA_LONG, at + 16);
      }
      if (mapped == 0) {
        return false;
      }
    }
    return false;
  }
}
