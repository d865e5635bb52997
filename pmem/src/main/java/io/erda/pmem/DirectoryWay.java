package io.erda.pmem;

import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;

/**
 * The directories on the path to a file. A new directory is an entry of its parent, which may be
 * new too: a file survives a power failure when all of these entries do.
 */
public final class DirectoryWay {
  private static final int DIRECTORY = Libc.O_RDONLY | Libc.O_DIRECTORY;

  private DirectoryWay() {}

  /** fsync(2) of a directory, and of the directories above it in the same file system. */
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
   * fsync(2) of the directories above an open one in the same file system, wherever it is now.
   *
   * @param descriptor of the directory
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
          // A directory that we may pass but not open: synchronise all of the file system instead.
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
