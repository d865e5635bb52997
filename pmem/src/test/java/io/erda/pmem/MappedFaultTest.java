package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the exceptions for failed stores to mapped memory. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MappedFaultTest {
  @TempDir Path directory;

  private int chattr(String flag, Path file) throws InterruptedException {
    try {
      return new ProcessBuilder("chattr", flag, file.toString()).start().waitFor();
    } catch (IOException e) {
      return -1;
    }
  }

  private FailedStoreException fault(Path file) {
    return MappedFault.ofStore(file, directory, MemorySegment.ofArray(new long[1]), 0, 8);
  }

  /**
   * The file system has room, and the file takes no store: the exception does not report a full
   * disk.
   */
  @Test
  void anImmutableFileIsNoFullDisk() throws Exception {
    Path file = Files.write(directory.resolve("region-0-1"), new byte[4096]);
    assertInstanceOf(NoRoomToStoreException.class, fault(file));
    Assumptions.assumeTrue(chattr("+i", file) == 0, "no file can be made immutable here");
    try {
      FailedStoreException e = fault(file);
      assertFalse(e instanceof NoRoomToStoreException, e::getMessage);
      assertTrue(e.getMessage().contains("Operation not permitted"), e::getMessage);
    } finally {
      assertEquals(0, chattr("-i", file));
    }
  }
}
