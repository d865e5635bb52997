package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The tests that every {@link PersistentMemory} must pass. A subclass makes the memory. */
public abstract class PersistentMemoryContract {
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
  private static final VarHandle LITTLE_ENDIAN_LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
  private static final int ZONE = 1024;
  private static final Duration BOUND = Duration.ofSeconds(30);

  private final List<PersistentMemory> created = new ArrayList<>();

  /** A new memory of {@code length} zero bytes; the suite closes it. */
  protected abstract PersistentMemory newMemory(long length) throws Exception;

  private PersistentMemory memory(long length) throws Exception {
    PersistentMemory memory = newMemory(length);
    created.add(memory);
    return memory;
  }

  @AfterEach
  final void closeMemories() {
    created.forEach(PersistentMemory::close);
  }

  @Test
  final void isZeroAtFirstAndAsLongAsItsBacking() throws Exception {
    PersistentMemory memory = memory(10_000);
    assertEquals(10_000, memory.segment().byteSize());
    assertEquals(10_000, memory.backing().length());
    assertEquals(0, memory.segment().address() % 8);
    assertArrayEquals(new byte[10_000], memory.segment().toArray(ValueLayout.JAVA_BYTE));
    assertNotNull(memory.survives());
  }

  @Test
  final void putStoresExactlyItsRange() throws Exception {
    PersistentMemory memory = memory(4096);
    Seeds.check(
        4,
        random -> {
          byte[] expected = memory.segment().toArray(ValueLayout.JAVA_BYTE);
          byte[] bytes = new byte[2048];
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment elsewhere = arena.allocate(bytes.length, 8);
            for (int i = 0; i < 300; i++) {
              random.nextBytes(bytes);
              MemorySegment source = MemorySegment.ofArray(bytes);
              if (random.nextBoolean()) {
                source = elsewhere.copyFrom(source);
              }
              int length = random.nextInt(random.nextBoolean() ? 40 : 1024);
              int from = random.nextInt(bytes.length - length + 1);
              int to = random.nextInt(expected.length - length + 1);
              memory.put(to, source, from, length);
              System.arraycopy(bytes, from, expected, to, length);
              assertArrayEquals(expected, memory.segment().toArray(ValueLayout.JAVA_BYTE));
            }
          }
        });
  }

  @Test
  final void putOfNothingIsAllowedUpToTheEnd() throws Exception {
    PersistentMemory memory = memory(64);
    memory.put(64, MemorySegment.ofArray(new byte[8]), 8, 0);
    memory.flush(64, 0);
    memory.drain();
    assertArrayEquals(new byte[64], memory.segment().toArray(ValueLayout.JAVA_BYTE));
  }

  @Test
  final void compareAndSetStoresOverTheExpectedWordAlone() throws Exception {
    PersistentMemory memory = memory(64);
    memory.putLongRelease(8, 5);
    assertFalse(memory.compareAndSetLong(8, 4, 6));
    assertTrue(memory.compareAndSetLong(8, 5, 7));
    assertFalse(memory.compareAndSetLong(8, 5, 8));
    assertEquals(7, memory.segment().get(ValueLayout.JAVA_LONG, 8));
    assertThrows(IllegalArgumentException.class, () -> memory.compareAndSetLong(4, 0, 1));
    assertThrows(IndexOutOfBoundsException.class, () -> memory.compareAndSetLong(64, 0, 1));
  }

  /** No increment of two threads is lost. */
  @Test
  final void compareAndSetIsAtomic() throws Exception {
    PersistentMemory memory = memory(64);
    int each = 20_000;
    Runnable increments =
        () -> {
          for (int i = 0; i < each; i++) {
            long word;
            do {
              word = memory.segment().get(ValueLayout.JAVA_LONG, 16);
            } while (!memory.compareAndSetLong(16, word, word + 1));
          }
        };
    Thread other = new Thread(increments);
    other.start();
    increments.run();
    other.join();
    assertEquals(2 * each, memory.segment().get(ValueLayout.JAVA_LONG, 16));
  }

  @Test
  final void putOutsideStoresNothing() throws Exception {
    PersistentMemory memory = memory(64);
    byte[] ones = new byte[32];
    Arrays.fill(ones, (byte) 1);
    MemorySegment source = MemorySegment.ofArray(ones);
    assertOutside(() -> memory.put(33, source, 0, 32));
    assertOutside(() -> memory.put(-1, source, 0, 8));
    assertOutside(() -> memory.put(0, source, 1, 32));
    assertOutside(() -> memory.put(0, source, -1, 8));
    assertOutside(() -> memory.put(0, source, 0, -1));
    assertOutside(() -> memory.put(Long.MAX_VALUE - 7, source, 0, 16));
    assertArrayEquals(new byte[64], memory.segment().toArray(ValueLayout.JAVA_BYTE));
  }

  @Test
  final void wordsAreLittleEndianAndAligned() throws Exception {
    PersistentMemory memory = memory(64);
    memory.putLongRelease(56, 0x0807060504030201L);
    byte[] expected = new byte[64];
    for (int i = 0; i < 8; i++) {
      expected[56 + i] = (byte) (i + 1);
    }
    assertArrayEquals(expected, memory.segment().toArray(ValueLayout.JAVA_BYTE));
    for (int i = 1; i < 8; i++) {
      long misaligned = i;
      assertThrows(IllegalArgumentException.class, () -> memory.putLongRelease(misaligned, 1));
    }
    assertOutside(() -> memory.putLongRelease(64, 1));
    assertOutside(() -> memory.putLongRelease(-8, 1));
    assertArrayEquals(expected, memory.segment().toArray(ValueLayout.JAVA_BYTE));
  }

  @Test
  final void flushAndDrainTakeAnyRangeAndChangeNothing() throws Exception {
    PersistentMemory memory = memory(20_000);
    byte[] expected = new byte[20_000];
    memory.drain();
    Seeds.check(
        2,
        random -> {
          for (int i = 0; i < 20; i++) {
            byte[] bytes = new byte[random.nextInt(1, 300)];
            random.nextBytes(bytes);
            int to = random.nextInt(expected.length - bytes.length + 1);
            memory.put(to, MemorySegment.ofArray(bytes), 0, bytes.length);
            System.arraycopy(bytes, 0, expected, to, bytes.length);
            memory.flush(to, bytes.length);
            if (random.nextBoolean()) {
              memory.drain();
            }
          }
        });
    memory.flush(0, 20_000);
    memory.drain();
    memory.drain();
    assertArrayEquals(expected, memory.segment().toArray(ValueLayout.JAVA_BYTE));
    assertOutside(() -> memory.flush(0, 20_001));
    assertOutside(() -> memory.flush(-1, 1));
    assertOutside(() -> memory.flush(20_000, 1));
    assertOutside(() -> memory.flush(0, -1));
  }

  /**
   * Eight zones, each always stored as one range that begins 0 to 7 bytes after the start of a
   * word, from a source that agrees mod 8. Each word that lies whole in the range must be all zeros
   * or all ones.
   */
  @Test
  final void noWholeWordOfARangeIsSeenTorn() throws Exception {
    PersistentMemory memory = memory(8 * ZONE);
    try (Arena arena = Arena.ofShared()) {
      MemorySegment zeros = arena.allocate(8 * ZONE, 8);
      MemorySegment ones = arena.allocate(8 * ZONE, 8).fill((byte) -1);
      Seeds.check(
          4,
          layout -> {
            int[] lengths = layout.ints(8, 8, layout.nextBoolean() ? 72 : ZONE - 8).toArray();
            memory.put(0, zeros, 0, 8 * ZONE);
            whileWriting(
                () -> {
                  int zone = layout.nextInt(8);
                  int from = zone * ZONE + zone;
                  memory.put(from, layout.nextBoolean() ? zeros : ones, from, lengths[zone]);
                },
                () -> {
                  for (int zone = 0; zone < 8; zone++) {
                    int from = zone * ZONE + zone;
                    int end = from + lengths[zone] & -8;
                    for (long at = from + 7 & -8; at < end; at += 8) {
                      assertWhole((long) LONG.getOpaque(memory.segment(), at), at);
                    }
                  }
                });
          });
    }
  }

  private static void assertWhole(long word, long at) {
    if (word != 0 && word != -1) {
      throw new AssertionError("torn at " + at + ": " + Long.toHexString(word));
    }
  }

  @Test
  final void aWordIsStoredAfterWhatWasStoredBeforeIt() throws Exception {
    PersistentMemory memory = memory(256);
    long[] next = {1};
    try (Arena arena = Arena.ofShared()) {
      MemorySegment source = arena.allocate(128, 8);
      whileWriting(
          () -> {
            long value = next[0]++;
            for (int at = 0; at < 128; at += 8) {
              source.set(ValueLayout.JAVA_LONG, at, value);
            }
            memory.put(128, source, 0, 128);
            memory.putLongRelease(0, value);
          },
          () -> {
            long published = (long) LITTLE_ENDIAN_LONG.getAcquire(memory.segment(), 0L);
            for (long at = 128; at < 256; at += 8) {
              long seen = (long) LONG.getOpaque(memory.segment(), at);
              assertTrue(seen >= published, () -> seen + " is older than " + published);
            }
          });
    }
  }

  @Test
  final void threadsStoreFlushAndDrainDisjointPlaces() throws Exception {
    PersistentMemory memory = memory(4 * 4096);
    List<FutureTask<Void>> writers = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      // Neighbouring words of a line belong to different threads.
      long mine = t * 8;
      writers.add(
          new FutureTask<>(() -> {
            for (long at = mine; at < memory.segment().byteSize(); at += 32) {
              memory.putLongRelease(at, at + 1);
              memory.flush(at, 8);
              if (at % 2048 == mine) {
                memory.drain();
              }
            }
            memory.drain();
            return null;
          }));
    }
    writers.forEach(writer -> Thread.ofPlatform().daemon().start(writer));
    assertTimeoutPreemptively(BOUND, () -> join(writers));
    for (long at = 0; at < memory.segment().byteSize(); at += 8) {
      assertEquals(at + 1, (long) LITTLE_ENDIAN_LONG.get(memory.segment(), at));
    }
  }

  @Test
  final void closeMakesTheBytesUnreachable() throws Exception {
    PersistentMemory memory = memory(64);
    MemorySegment segment = memory.segment();
    memory.close();
    memory.close();
    assertThrows(IllegalStateException.class, () -> segment.get(ValueLayout.JAVA_BYTE, 0));
    assertThrows(IllegalStateException.class, () -> memory.putLongRelease(0, 1));
    assertThrows(
        IllegalStateException.class, () -> memory.put(0, MemorySegment.ofArray(new byte[8]), 0, 8));
  }

  /** Writes many times in another thread, and reads in this one as long as that takes. */
  private static void whileWriting(Runnable write, Runnable read) {
    AtomicBoolean done = new AtomicBoolean();
    FutureTask<Void> writer =
        new FutureTask<>(() -> {
          try {
            for (int i = 0; i < 20_000; i++) {
              write.run();
            }
          } finally {
            done.set(true);
          }
          return null;
        });
    Thread.ofPlatform().daemon().start(writer);
    assertTimeoutPreemptively(
        BOUND,
        () -> {
          while (!done.get()) {
            read.run();
          }
          writer.get();
        });
  }

  private static void join(List<FutureTask<Void>> tasks)
      throws InterruptedException, ExecutionException {
    for (FutureTask<Void> task : tasks) {
      task.get();
    }
  }

  private static void assertOutside(Executable action) {
    assertThrows(IndexOutOfBoundsException.class, action);
  }
}
