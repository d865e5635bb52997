package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * After a store to one page that page is written to the device, and not the megabyte around it: a
 * kernel keeps pages that were brought in together in one piece, and writes it whole.
 */
final class SyncedPagesTest {
  private static final Path IO = Path.of("/proc/thread-self/io");
  private static final long PAGE = 4096;
  private static final long LENGTH = 32 << 20;
  private static final int PAGES = 16;

  @TempDir private Path directory;

  @Test
  void aStoreMakesItsOwnPageDirtyAlone() throws IOException {
    assumeTrue(Files.isReadable(IO), "this kernel does not count what a thread has written");
    try (MappedDirectory files = MappedDirectory.open(directory, MappedDirectory.Mode.SYNCED);
        PersistentMemory memory = files.create("memory", LENGTH)) {
      memory.populate(0, LENGTH);
      long before = written();
      for (int i = 0; i < PAGES; i++) {
        long offset = i * (LENGTH / PAGES);
        memory.put(offset, MemorySegment.ofArray(new byte[] {1}), 0, 1);
        memory.flush(offset, 1);
      }
      memory.drain();
      long each = (written() - before) / PAGES;
      assertTrue(each <= 2 * PAGE, each + " bytes were written for one page");
    }
  }

  private static long written() throws IOException {
    for (String line : Files.readAllLines(IO)) {
      if (line.startsWith("write_bytes: ")) {
        return Long.parseLong(line.substring("write_bytes: ".length()));
      }
    }
    throw new IOException("no write_bytes in " + IO);
  }
}
