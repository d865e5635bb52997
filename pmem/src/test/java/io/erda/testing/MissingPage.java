package io.erda.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.erda.pmem.MemoryGuard;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * A mapped file of two pages of which the second is missing, because the file was shortened. A
 * store that lies in both pages meets a fault, and so stores nothing in the first either.
 *
 * <p>{@code PageCopy} says why no store may lie in two pages.
 */
public final class MissingPage {
  private static final int PAGE = 4096;
  private static final int BEFORE_MAX = 72;
  private static final int BEHIND_MAX = 200;

  private MissingPage() {}

  /** A way to copy bytes into a mapped file. */
  public interface Copy {
    void copy(MemorySegment source, long from, MemorySegment target, long to, int length);
  }

  /** Copies ranges that lie in both pages, and requires that all of the first page is stored. */
  public static void storesWhatIsBefore(Path directory, Copy copy) throws IOException {
    Path path = Files.createTempFile(directory, "page", "");
    try (FileChannel file =
            FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
        Arena arena = Arena.ofShared()) {
      MemorySegment source = arena.allocate(PAGE, PAGE).fill((byte) 7);
      MemorySegment target = file.map(MapMode.READ_WRITE, 0, 2 * PAGE, arena);
      file.truncate(PAGE);
      for (int before = 0; before < BEFORE_MAX; before++) {
        for (int length = before + 1; length < before + BEHIND_MAX; length++) {
          stores(source, target, before, length, copy);
        }
      }
    }
  }

  private static void stores(
      MemorySegment source, MemorySegment target, int before, int length, Copy copy) {
    MemorySegment there = target.asSlice(0, PAGE).fill((byte) 0);
    // Word copies agree with the destination mod 8, or do not.
    int from = PAGE - before + length % 2 & 7;
    boolean whole =
        new MemoryGuard()
            .attempt(source, bytes -> copy.copy(bytes, from, target, PAGE - before, length));
    assertFalse(whole, "a store to the missing page met no fault");
    byte[] expected = new byte[PAGE];
    Arrays.fill(expected, PAGE - before, PAGE, (byte) 7);
    assertEquals(
        -1,
        Arrays.mismatch(expected, there.toArray(ValueLayout.JAVA_BYTE)),
        () -> length + " bytes, " + before + " of them in the first page");
  }
}
