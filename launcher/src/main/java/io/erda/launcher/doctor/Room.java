package io.erda.launcher.doctor;

import io.erda.pmem.FileSystemStatus;
import java.io.IOException;
import java.nio.file.Path;

/**
 * How much room a file system has for this user.
 *
 * @param totalBytes the size of the whole file system
 * @param usableBytes the bytes that this user may still take
 * @param totalFiles how many files it can have; 0 when that has no limit
 * @param usableFiles how many more it can have
 */
public record Room(long totalBytes, long usableBytes, long totalFiles, long usableFiles) {
  /** Finds out the room. */
  @FunctionalInterface
  public interface Asking {
    Room of(Path directory) throws IOException;
  }

  /** Asks the kernel: the JDK does not tell how many files there may be. */
  static Room ofKernel(Path directory) throws IOException {
    FileSystemStatus told = FileSystemStatus.of(directory);
    return new Room(told.totalBytes(), told.usableBytes(), told.totalFiles(), told.usableFiles());
  }
}
