package io.erda.server.engine.files;

import io.erda.pmem.MappedDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.OpenDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * A file that says that the device did not take bytes of the store. The kernel tells of that only
 * once, so without the mark the next server, which finds those bytes in memory, would take them for
 * stored. The mark need not survive power failure, because what is in memory does not either.
 */
public final class UnwrittenMark {
  private UnwrittenMark() {}

  /** Leaves the mark, if the file system takes it. */
  public static void leave(MemoryDirectory directory) {
    try {
      require(directory);
    } catch (IOException | UncheckedIOException e) {
      // A file system that takes no file has to be mounted again before a store in it can be
      // opened, and then nothing of it is in memory any more.
    }
  }

  /** Leaves the mark, or throws. */
  private static void require(MemoryDirectory directory) throws IOException {
    if (!isIn(directory)) {
      directory.create(StoreFiles.UNWRITTEN, MappedDirectory.SPARE_BYTES).close();
    }
  }

  /**
   * Writes all files once more, see {@link MappedDirectory#writeAgain}. The mark keeps meanwhile
   * what is being written.
   */
  public static long writeAgain(MappedDirectory directory) throws IOException {
    require(directory);
    long written = directory.writeAgain(StoreFiles.UNWRITTEN);
    directory.delete(StoreFiles.UNWRITTEN);
    return written;
  }

  /**
   * Whether the mark was left.
   *
   * @throws UncheckedIOException when that can't be determined
   */
  public static boolean isIn(MemoryDirectory directory) {
    return directory.exists(StoreFiles.UNWRITTEN);
  }

  /** The same for a directory that can perhaps not be listed. */
  public static boolean isIn(OpenDirectory directory) {
    return directory.exists(StoreFiles.UNWRITTEN);
  }
}
