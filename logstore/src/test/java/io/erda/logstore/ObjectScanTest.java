package io.erda.logstore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;

/**
 * The scan finds what a plain look at each place finds, and stays quick where that one would not.
 */
class ObjectScanTest {
  private static final long SEED = Long.getLong("erda.seed", 20261120);
  private static final int HEAD = 2;
  private static final int GENERATION = 77;

  private static List<String> scanned(MemorySegment memory, int fromOffset, long from, long to) {
    List<String> found = new ArrayList<>();
    new ObjectScan()
        .scan(
            memory,
            HEAD,
            GENERATION,
            fromOffset,
            from,
            to,
            (place, bytes) -> found.add(place + ":" + bytes));
    return found;
  }

  private static List<String> looked(MemorySegment memory, int fromOffset, long from, long to) {
    ObjectChecksum checksum = new ObjectChecksum(memory);
    List<String> found = new ArrayList<>();
    for (long place = from; place < to; place += 8) {
      int mix =
          ObjectChecksum.positionMix(HEAD, GENERATION, fromOffset + (int) ((place - from) >>> 3));
      int bytes = checksum.validBytes(place, to - place, mix);
      if (bytes != 0) {
        found.add(place + ":" + bytes);
      }
    }
    return found;
  }

  private static int mix(int offset) {
    return ObjectChecksum.positionMix(HEAD, GENERATION, offset);
  }

  @Test
  void findsWhatAPlainLookAtEachPlaceFinds() {
    for (int round = 0; round < 300; round++) {
      RandomGenerator random = new SplittableRandom(SEED + round);
      byte[] bytes = new byte[64 * (1 + random.nextInt(64))];
      MemorySegment memory = MemorySegment.ofArray(bytes);
      if (random.nextBoolean()) {
        random.nextBytes(bytes);
      }
      long regionBegin = random.nextInt(1 << 7) * LogGeometry.REGION_BYTES_MIN;
      long from = random.nextInt(8) * 8L;
      int fromOffset = (int) ((regionBegin + from) >>> 3);
      long to = bytes.length - random.nextInt(4) * 8L;
      int written = writeObjects(memory, fromOffset, from, to, random);
      damageSome(bytes, random);
      List<String> expected = looked(memory, fromOffset, from, to);
      long replay = SEED + round;
      assertEquals(
          expected,
          scanned(memory, fromOffset, from, to),
          () -> written + " written; replay with -Derda.seed=" + replay);
    }
  }

  /** Objects of all lengths, some over others, some inside others' values. */
  private static int writeObjects(
      MemorySegment memory, int fromOffset, long from, long to, RandomGenerator random) {
    ObjectWriter writer = new ObjectWriter(memory);
    byte[] content = new byte[4096];
    random.nextBytes(content);
    MemorySegment source = MemorySegment.ofArray(content);
    int written = 0;
    for (int i = random.nextInt(60); i > 0; i--) {
      long place = from + random.nextInt((int) (to - from) >>> 3) * 8L;
      int keyLength = 1 + random.nextInt(20);
      int valueLength = random.nextInt(random.nextBoolean() ? 50 : 2000);
      if (place + ObjectLayout.padded(ObjectLayout.bytes(keyLength, valueLength)) <= to) {
        int offset = fromOffset + (int) ((place - from) >>> 3);
        writer.write(place, source, 0, keyLength, source, 5, valueLength, false, mix(offset));
        written++;
      }
    }
    return written;
  }

  private static void damageSome(byte[] bytes, RandomGenerator random) {
    for (int i = random.nextInt(4); i > 0; i--) {
      bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
    }
  }

  @Test
  void findsAnObjectInsideAnothersValue() {
    MemorySegment memory = MemorySegment.ofArray(new byte[256]);
    MemorySegment key = MemorySegment.ofArray(new byte[] {1, 2, 3, 4, 5, 6});
    ObjectWriter writer = new ObjectWriter(memory);
    writer.write(64, key, 0, 6, key, 0, 6, false, mix(8));
    MemorySegment value =
        MemorySegment.ofArray(memory.asSlice(0, 200).toArray(ValueLayout.JAVA_BYTE));
    writer.write(0, key, 0, 6, value, 16, 184, false, mix(0));
    assertEquals(List.of("0:200", "64:22"), scanned(memory, 0, 0, 256));
  }

  @Test
  void anObjectEndsBeforeTheRangeDoes() {
    MemorySegment memory = MemorySegment.ofArray(new byte[64]);
    MemorySegment key = MemorySegment.ofArray(new byte[40]);
    new ObjectWriter(memory).write(8, key, 0, 6, key, 0, 40, false, mix(1));
    assertEquals(List.of("8:56"), scanned(memory, 0, 0, 64));
    assertEquals(List.of(), scanned(memory, 0, 0, 56));
    assertEquals(List.of("8:56"), scanned(memory, 1, 8, 64));
    assertEquals(List.of(), scanned(memory, 0, 0, 8));
    assertEquals(List.of(), scanned(memory, 0, 0, 0));
  }

  /**
   * A header with a length that reaches to the end at each place of 8 MiB: computing a checksum
   * over each of them would read 4 TiB, which takes more than a minute and a half on any machine.
   * The scan takes some tenths of a second. The limit only distinguishes the two.
   */
  @Test
  void headersWithLongLengthsEverywhereCostNoSquare() {
    int bytes = 8 << 20;
    MemorySegment memory = MemorySegment.ofArray(new byte[bytes]);
    ValueLayout.OfLong word = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    for (int place = 0; place < bytes; place += 8) {
      // The low half is a neighbour's key length: not 0.
      int valueLength = Math.max(0, bytes - place - 10 - 65535);
      memory.set(word, place, (long) valueLength << 32 | 0x5A5A_FFFFL);
    }
    // At every place the header is plausible, until the keys no longer fit.
    assertTrue(ObjectLayout.plausible(memory, 0, bytes));
    assertTrue(ObjectLayout.plausible(memory, bytes / 2, bytes / 2));
    new ObjectWriter(memory)
        .write(
            bytes - 64,
            MemorySegment.ofArray(new byte[] {1}),
            0,
            1,
            MemorySegment.ofArray(new byte[40]),
            0,
            40,
            false,
            mix((bytes - 64) / 8));
    List<String> found =
        Assertions.assertTimeoutPreemptively(
            Duration.ofSeconds(20), () -> scanned(memory, 0, 0, bytes));
    assertEquals(List.of(bytes - 64 + ":51"), found);
  }
}
