package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

final class CountedMemoryTest extends PersistentMemoryContract {
  @Override
  protected CountedMemory newMemory(long length) throws Exception {
    return new CountedMemory(new HeapDirectory().create("m", length), new StoreCounter());
  }

  @Test
  void countsEachStore() throws Exception {
    try (CountedMemory memory = newMemory(4096)) {
      assertEquals(MemoryStatistics.NONE, memory.statistics());
      memory.put(3, bytes(1, 0, 2, 0, 0, 0, 0, 0, 0, 3), 0, 10);
      assertEquals(new MemoryStatistics(1, 10, 3, 0, 0, 0), memory.statistics());
      memory.put(3, bytes(1, 9, 2), 0, 3);
      assertEquals(new MemoryStatistics(2, 13, 4, 0, 0, 0), memory.statistics());
      memory.putLongRelease(64, 0x0100_0000_0000_0080L);
      memory.putLongRelease(64, 0x0100_0000_0000_0081L);
      assertEquals(new MemoryStatistics(4, 29, 7, 0, 0, 0), memory.statistics());
    }
  }

  @Test
  void countsLinesAsOftenAsTheyAreFlushed() throws Exception {
    try (CountedMemory memory = newMemory(4096)) {
      memory.flush(0, 64);
      memory.flush(63, 2);
      memory.flush(64, 1);
      memory.flush(1, 128);
      memory.flush(100, 0);
      memory.drain();
      assertEquals(new MemoryStatistics(0, 0, 0, 4, 1 + 2 + 1 + 3, 1), memory.statistics());
    }
  }

  @Test
  void whatIsRefusedIsNotCounted() throws Exception {
    try (CountedMemory memory = newMemory(64)) {
      assertAll(
          () -> refused(() -> memory.put(60, bytes(1, 2, 3, 4, 5), 0, 5)),
          () -> refused(() -> memory.put(0, bytes(1), 0, 2)),
          () -> refused(() -> memory.putLongRelease(4, 1)),
          () -> refused(() -> memory.putLongRelease(64, 1)),
          () -> refused(() -> memory.flush(0, 65)));
      memory.put(0, bytes(1), 0, 0);
      assertEquals(MemoryStatistics.NONE, memory.statistics());
    }
  }

  /** Against a count byte by byte. */
  @Test
  void countsTheBytesThatDiffer() throws Exception {
    try (CountedMemory memory = newMemory(512)) {
      Seeds.check(
          4,
          random -> {
            for (int i = 0; i < 200; i++) {
              byte[] bytes = new byte[random.nextInt(1, 200)];
              random.nextBytes(bytes);
              int offset = random.nextInt(512 - bytes.length + 1);
              int expected = 0;
              for (int j = 0; j < bytes.length; j++) {
                byte old = memory.segment().get(ValueLayout.JAVA_BYTE, offset + j);
                if (random.nextInt(3) == 0) {
                  bytes[j] = old;
                }
                expected += bytes[j] == old ? 0 : 1;
              }
              MemoryStatistics before = memory.statistics();
              memory.put(offset, MemorySegment.ofArray(bytes), 0, bytes.length);
              assertEquals(
                  new MemoryStatistics(1, bytes.length, expected, 0, 0, 0),
                  memory.statistics().minus(before));
            }
          });
    }
  }

  @Test
  void statisticsAddUp() {
    MemoryStatistics one = new MemoryStatistics(1, 2, 3, 4, 5, 6);
    MemoryStatistics two = new MemoryStatistics(10, 20, 30, 40, 50, 60);
    assertEquals(new MemoryStatistics(11, 22, 33, 44, 55, 66), one.plus(two));
    assertEquals(two, one.plus(two).minus(one));
  }

  private static void refused(Runnable action) {
    try {
      action.run();
    } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
      return;
    }
    throw new AssertionError("not refused");
  }

  private static MemorySegment bytes(int... values) {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      bytes[i] = (byte) values[i];
    }
    return MemorySegment.ofArray(bytes);
  }
}
