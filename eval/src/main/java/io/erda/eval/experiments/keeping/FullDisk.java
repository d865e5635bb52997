package io.erda.eval.experiments.keeping;

import io.erda.eval.process.ProcessException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Fills a disk with a file until this is closed. */
final class FullDisk implements AutoCloseable {
  /** The largest file system that is filled: a larger one has other uses. */
  private static final long TOTAL_MAX = 8L << 30;

  private static final int CHUNK_MAX = 1 << 20;
  private static final int CHUNK_MIN = 1 << 12;

  private final Path file;

  /**
   * Whether a directory's file system is small enough to be filled.
   *
   * @throws ProcessException when that is unknown
   */
  static boolean isAllowedIn(Path directory) {
    try {
      return Files.getFileStore(directory).getTotalSpace() <= TOTAL_MAX;
    } catch (IOException e) {
      throw new ProcessException("can't look at the file system of " + directory, e);
    }
  }

  /** Fills the file system of a directory. */
  FullDisk(Path directory) throws IOException {
    file = directory.resolve("filler");
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      for (int chunk = CHUNK_MAX; chunk >= CHUNK_MIN; chunk /= 2) {
        fill(channel, chunk);
      }
    }
  }

  private static void fill(FileChannel channel, int chunk) {
    ByteBuffer zeros = ByteBuffer.allocateDirect(chunk);
    try {
      while (true) {
        channel.write(zeros.clear());
      }
    } catch (IOException e) {
      // The file system is full, as intended.
    }
  }

  @Override
  public void close() throws IOException {
    Files.delete(file);
  }
}
