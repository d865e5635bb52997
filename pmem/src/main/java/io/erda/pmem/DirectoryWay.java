package io.erda.pmem;

import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;

/**
 * The directories on the path to a file. A new directory is an entry of its parent, and the parent
 * may be new too. So a file survives a power failure only when the entries of all these directories
 * do.
 */
public final class DirectoryWay {
  private static final int DIRECTORY = Libc.O_RDONLY | Libc.O_DIRECTORY;

  private DirectoryWay() {}

  /** Calls fsync(2) for a directory, and for the directories above it in the same file system. */
  public static void sync(Path directory) throws IOException {
    int descriptor = open(directory);
    try {
      FileErrors.check("fsync", Libc.fsync(descriptor), directory);
      syncAbove(directory, descriptor);
    } finally {
      Libc.close(descriptor);
    }
  }

  /**
   * Calls fsync(2) for the directories above an open directory in the same file system. Finds them
   * from the place that the open directory has now.
   *
   * @param descriptor the descriptor of the directory
   */
  static void syncAbove(Path directory, int descriptor) throws IOException {
    FileStatus below = FileStatus.of(descriptor, directory);
    Path name = directory;
    int at = descriptor;
    try {
      while (true) {
        name = name.resolve("..");
        int above;
        try {
          above = FileErrors.check("open", Libc.open(at, "..", DIRECTORY), name);
        } catch (AccessDeniedException e) {
          // This process may pass the directory but not open it, so synchronise the whole file
          // system instead.
          FileErrors.check("syncfs", Libc.syncfs(descriptor), directory);
          return;
        }
        if (at != descriptor) {
          Libc.close(at);
        }
        at = above;
        FileStatus status = FileStatus.of(above, name);
        if (status.device() != below.device() || status.isSameAs(below)) {
          return;
        }
        FileErrors.check("fsync", Libc.fsync(above), name);
        below = status;
      }
    } finally {
      if (at != descriptor) {
        Libc.close(at);
      }
    }
  }

  private static int open(Path directory) throws IOException {
    return FileErrors.check("open", Libc.open(directory, DIRECTORY), directory);
  }
}
