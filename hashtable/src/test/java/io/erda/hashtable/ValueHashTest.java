package io.erda.hashtable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.Random;
import net.openhft.hashing.LongTupleHashFunction;
import org.junit.jupiter.api.Test;

/** The hash is what the protocol says, wherever the bytes lie. */
final class ValueHashTest {
  private final ValueHash hash = new ValueHash();

  /**
   * XXH3 of no bytes, with the seed 0, as its authors give it: 99aa06d3014798d8 6001c324468d497f.
   */
  @Test
  void noBytes() {
    hash.compute(MemorySegment.ofArray(new byte[0]), 0, 0);
    assertEquals(0x6001c324468d497fL, hash.low());
    assertEquals(0x99aa06d3014798d8L, hash.high());
  }

  /** The example of the protocol's FORMAT.md. */
  @Test
  void threeBytes() {
    hash.compute(MemorySegment.ofArray(new byte[] {'o', 'l', 'd'}), 0, 3);
    assertEquals(0x0f3ca07a8cc8bf40L, hash.low());
    assertEquals(0x1bcbfc1be90c1b30L, hash.high());
  }

  @Test
  void theLibraryAgrees() {
    byte[] bytes = new byte[4200];
    new Random(2).nextBytes(bytes);
    LongTupleHashFunction library = LongTupleHashFunction.xx128();
    for (int length = 0; length <= 4096; length += length < 300 ? 1 : 73) {
      int offset = length % 100;
      long[] expected = library.hashBytes(bytes, offset, length);
      hash.compute(MemorySegment.ofArray(bytes), offset, length);
      assertEquals(expected[0], hash.low(), "length " + length);
      assertEquals(expected[1], hash.high(), "length " + length);
    }
  }

  @Test
  void theSameOnTheHeapAndOutsideOfItAtAnyPlace() {
    Random random = new Random(1);
    try (Arena arena = Arena.ofConfined()) {
      for (int length : new int[] {1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 1024, 5000}) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        hash.compute(MemorySegment.ofArray(bytes), 0, length);
        long low = hash.low();
        long high = hash.high();
        MemorySegment outside = arena.allocate(length + 7);
        MemorySegment.copy(bytes, 0, outside, ValueLayout.JAVA_BYTE, 5, length);
        hash.compute(outside, 5, length);
        assertEquals(low, hash.low(), "length " + length);
        assertEquals(high, hash.high(), "length " + length);
      }
    }
  }

  @Test
  void bytesBeyondTheSegmentAreRefused() {
    MemorySegment segment = MemorySegment.ofArray(new byte[8]);
    assertThrows(IndexOutOfBoundsException.class, () -> hash.compute(segment, 1, 8));
  }

  @Test
  void allocatesNothing() {
    MemorySegment segment = MemorySegment.ofArray(new byte[1024]);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 20 && least > 1000; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < 10_000; i++) {
        hash.compute(segment, 0, 1024);
      }
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    assertEquals(0, least / 10_000, "bytes for each hash");
  }
}
