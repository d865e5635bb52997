package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.erda.testing.MissingPage;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a copy into mapped memory makes no store that lies in two pages. */
class PageCopyTest {
  private static final int PAGE = 4096;

  @TempDir Path directory;

  @Test
  void copiesEachByteOfItsRangeAndNoOther() throws Exception {
    Seeds.check(
        4,
        random -> {
          byte[] bytes = new byte[4 * PAGE];
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment elsewhere = arena.allocate(bytes.length, PAGE);
            MemorySegment target = arena.allocate(bytes.length, PAGE);
            byte[] expected = new byte[bytes.length];
            for (int i = 0; i < 200; i++) {
              random.nextBytes(bytes);
              MemorySegment source = MemorySegment.ofArray(bytes);
              source = random.nextBoolean() ? elsewhere.copyFrom(source) : source;
              int length = random.nextInt(random.nextBoolean() ? 100 : 3 * PAGE);
              int from = random.nextInt(bytes.length - length + 1);
              int to = random.nextInt(bytes.length - length + 1);
              PageCopy.copy(source, from, target, to, length);
              System.arraycopy(bytes, from, expected, to, length);
              assertArrayEquals(expected, target.toArray(ValueLayout.JAVA_BYTE));
            }
          }
        });
  }

  @Test
  void aRangeOutsideOfASegmentStoresNothing() {
    MemorySegment source = MemorySegment.ofArray(new byte[2 * PAGE]).fill((byte) 1);
    MemorySegment target = Arena.ofAuto().allocate(2 * PAGE, PAGE);
    for (long length : List.of(2L * PAGE + 1, 3L * PAGE, -1L)) {
      assertThrows(
          IndexOutOfBoundsException.class, () -> PageCopy.copy(source, 0, target, 0, length));
      assertThrows(
          IndexOutOfBoundsException.class, () -> PageCopy.copy(source, 16, target, 8, length));
    }
    assertArrayEquals(new byte[2 * PAGE], target.toArray(ValueLayout.JAVA_BYTE));
  }

  @Test
  void noStoreLiesInTwoPages() throws Exception {
    MissingPage.storesWhatIsBefore(directory, PageCopy::copy);
    MissingPage.storesWhatIsBefore(directory, WordCopy::copy);
  }
}
