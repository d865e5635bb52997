package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On a sound device; erda-server's FailedWriteTest has one that failed. */
class SecondWriteTest {
  private static final int MIB = 1 << 20;

  @TempDir Path directory;

  @Test
  void filesKeepTheirBytesAndTheirLengths() throws Exception {
    int[] lengths = {1, 100, 4096, 4097, MIB, MIB + 4096, 3 * MIB + 5000};
    byte[][] contents = new byte[lengths.length][];
    long all = 0;
    for (int i = 0; i < lengths.length; i++) {
      contents[i] = new byte[lengths[i]];
      new Random(i).nextBytes(contents[i]);
      Files.write(directory.resolve("file-" + i), contents[i]);
      all += lengths[i];
    }
    Files.createFile(directory.resolve("empty"));
    try (MappedDirectory opened = MappedDirectory.open(directory)) {
      // A reader has a file mapped meanwhile.
      PersistentMemory mapped = opened.open("file-6");
      assertEquals(all, opened.writeAgain());
      for (int i = 0; i < lengths.length; i++) {
        assertArrayEquals(contents[i], Files.readAllBytes(directory.resolve("file-" + i)));
      }
      assertEquals(0, Files.size(directory.resolve("empty")));
      byte[] seen = new byte[lengths[6]];
      mapped.segment().asByteBuffer().get(seen);
      assertArrayEquals(contents[6], seen);
    }
  }
}
