package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.erda.pmem.MappedDirectory;
import io.erda.pmem.NoRoomToStoreException;
import io.erda.pmem.PersistentMemory;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A swap of a word in a page that can be loaded, and that the file system has no room to store to.
 * A hole of an ext4 without a free block is such a page, as a page that is shared with a copy is on
 * other file systems.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("long")
class SwapOnFullDiskTest {
  private static final int FILE_BYTES = 64 << 10;

  @TempDir Path scratch;

  /** The failure had no reason, so that a {@link NullPointerException} ended the server. */
  @Test
  void aSwapIntoAHoleNamesTheFile() throws Exception {
    try (CutFileSystem files = CutFileSystem.mount(scratch);
        MappedDirectory directory = MappedDirectory.open(Files.createDirectory(at(files)));
        PersistentMemory memory = directory.create("table-1", FILE_BYTES)) {
      assumeTrue(punch(at(files).resolve("table-1")), "no hole can be made in a file here");
      fill(files.root().resolve("full"));
      assertEquals(0, memory.segment().get(ValueLayout.JAVA_LONG, 8192));
      NoRoomToStoreException full =
          assertThrows(NoRoomToStoreException.class, () -> memory.compareAndSetLong(8192, 0, 1));
      assertTrue(full.getMessage().contains("table-1"), full::getMessage);
      assertEquals(0, memory.segment().get(ValueLayout.JAVA_LONG, 8192));
      Files.delete(files.root().resolve("full"));
      assertTrue(memory.compareAndSetLong(8192, 0, 1));
    }
  }

  private static Path at(CutFileSystem files) {
    return files.root().resolve("store");
  }

  private static boolean punch(Path file) throws Exception {
    String[] command = {"fallocate", "--punch-hole", "--length", "" + FILE_BYTES, file.toString()};
    return new ProcessBuilder(command).inheritIO().start().waitFor() == 0;
  }

  private static void fill(Path file) throws IOException {
    byte[] bytes = new byte[4096];
    try (OutputStream out = Files.newOutputStream(file)) {
      assertThrows(
          IOException.class,
          () -> {
            while (true) {
              out.write(bytes);
            }
          });
    }
  }
}
