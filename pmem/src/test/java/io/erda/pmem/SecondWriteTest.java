package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.pmem.libc.Libc;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On a sound device; erda-server's FailedWriteTest has one that failed. */
class SecondWriteTest {
  private static final int MIB = 1 << 20;

  private static final String SPARE = "spare";

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
      opened.create(SPARE, MappedDirectory.SPARE_BYTES).close();
      assertEquals(all, opened.writeAgain(SPARE));
      for (int i = 0; i < lengths.length; i++) {
        assertArrayEquals(contents[i], Files.readAllBytes(directory.resolve("file-" + i)));
      }
      assertEquals(0, Files.size(directory.resolve("empty")));
      byte[] seen = new byte[lengths[6]];
      mapped.segment().asByteBuffer().get(seen);
      assertArrayEquals(contents[6], seen);
    }
  }

  /** The kernel has dropped a page, has not written it, and the process is killed. */
  @Test
  void whatAKillInterruptedIsPutBack() throws Exception {
    byte[] content = new byte[MIB];
    new Random(1).nextBytes(content);
    Path file = directory.resolve("file");
    Files.write(file, content);
    int at = 8192;
    int count = SecondWrite.STEP / 2;
    try (MappedDirectory opened = MappedDirectory.open(directory);
        Arena arena = Arena.ofConfined()) {
      opened.create(SPARE, MappedDirectory.SPARE_BYTES).close();
      MemorySegment bytes = arena.allocate(count);
      bytes.copyFrom(MemorySegment.ofArray(content).asSlice(at, count));
      int descriptor = opened.opened().open(SPARE, true);
      new KeptCopy(opened.opened(), descriptor, SPARE, arena).keep("file", bytes, count, at);
      Libc.close(descriptor);
      byte[] dropped = content.clone();
      Arrays.fill(dropped, at, at + count, (byte) 0);
      Files.write(file, dropped);
      opened.putBack(SPARE);
      assertArrayEquals(content, Files.readAllBytes(file));
    }
  }

  /** A kill while bytes are kept leaves a header that is another's, and nothing is put back. */
  @Test
  void aCopyThatIsNotWholeIsNotPutBack() throws Exception {
    byte[] content = new byte[MIB];
    Path file = directory.resolve("file");
    Files.write(file, content);
    try (MappedDirectory opened = MappedDirectory.open(directory);
        Arena arena = Arena.ofConfined()) {
      PersistentMemory spare = opened.create(SPARE, MappedDirectory.SPARE_BYTES);
      MemorySegment bytes = arena.allocate(100).fill((byte) 7);
      int descriptor = opened.opened().open(SPARE, true);
      new KeptCopy(opened.opened(), descriptor, SPARE, arena).keep("file", bytes, 100, 0);
      Libc.close(descriptor);
      spare.segment().set(ValueLayout.JAVA_BYTE, 4096 + 99, (byte) 8);
      opened.putBack(SPARE);
      assertArrayEquals(content, Files.readAllBytes(file));
    }
  }
}
