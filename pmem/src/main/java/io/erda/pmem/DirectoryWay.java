package io.erda.pmem;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The directories by whose names a file is found. One that is new is an entry of its parent, and so
 * may be those above it: a file survives a power failure when all of these entries do.
 */
public final class DirectoryWay {
  private DirectoryWay() {}

  /** fsync(2) of a directory, and of those above it in the same file system. */
  public static void sync(Path directory) throws IOException {
    int descriptor = open(directory);
    try {
      Libc.check("fsync", Libc.fsync(descriptor), directory);
      syncAbove(directory, descriptor);
    } finally {
      Libc.close(descriptor);
    }
  }

  /**
   * fsync(2) of those above a directory in the same file system.
   *
   * @param descriptor of the directory
   */
  static void syncAbove(Path directory, int descriptor) throws IOException {
    Path way = directory.toRealPath();
    Object device = Files.getAttribute(way, "unix:dev");
    for (Path above = way.getParent();
        above != null && Files.getAttribute(above, "unix:dev").equals(device);
        above = above.getParent()) {
      int opened;
      try {
        opened = open(above);
      } catch (AccessDeniedException e) {
        // A directory that we may pass but not open: synchronise all of the file system instead.
        Libc.check("syncfs", Libc.syncfs(descriptor), directory);
        return;
      }
      try {
        Libc.check("fsync", Libc.fsync(opened), above);
      } finally {
        Libc.close(opened);
      }
    }
  }

  private static int open(Path directory) throws IOException {
    return Libc.check("open", Libc.open(directory, Libc.O_RDONLY | Libc.O_DIRECTORY), directory);
  }
}
