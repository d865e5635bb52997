package io.erda.logstore;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One object: written, validated, damaged, moved; in each kind of memory. */
class ObjectTest {
  private static final long SEED = Long.getLong("erda.seed", 20261120);
  private static final String REPLAY = "replay with -Derda.seed=" + SEED;

  /** Heap, native and mapped memory of 64 KiB. */
  private interface InMemory {
    void accept(MemorySegment memory);
  }

  private static void inEachMemory(Path directory, InMemory test) throws IOException {
    test.accept(MemorySegment.ofArray(new byte[64 << 10]));
    test.accept(MemorySegment.ofArray(new byte[(64 << 10) + 8]).asSlice(8));
    try (Arena arena = Arena.ofShared();
        FileChannel file =
            FileChannel.open(
                directory.resolve("mapped"),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
      test.accept(arena.allocate(64 << 10, 8));
      test.accept(file.map(MapMode.READ_WRITE, 0, 64 << 10, arena));
    }
  }

  private static byte[] bytes(RandomGenerator random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private static int write(ObjectWriter writer, long base, byte[] key, byte[] value, int mix) {
    return writer.write(
        base,
        MemorySegment.ofArray(key),
        0,
        key.length,
        MemorySegment.ofArray(value),
        0,
        value.length,
        false,
        mix);
  }

  @Test
  void whatIsWrittenIsValidAndReadBack(@TempDir Path directory) throws IOException {
    RandomGenerator random = new SplittableRandom(SEED);
    inEachMemory(
        directory,
        memory -> {
          ObjectWriter writer = new ObjectWriter(memory);
          ObjectChecksum checksum = new ObjectChecksum(memory);
          for (int i = 0; i < 500; i++) {
            byte[] key = bytes(random, 1 + random.nextInt(i % 10 == 0 ? 3000 : 30));
            byte[] value = bytes(random, random.nextInt(i % 7 == 0 ? 5000 : 70));
            int mix = random.nextInt();
            long base = random.nextInt(7000) * 8L;
            memory.fill((byte) 0xEE);
            int stored = write(writer, base, key, value, mix);
            requireObject(memory, checksum, base, stored, key, value, mix);
          }
        });
  }

  private static void requireObject(
      MemorySegment memory,
      ObjectChecksum checksum,
      long base,
      int stored,
      byte[] key,
      byte[] value,
      int mix) {
    int bytes = 10 + key.length + value.length;
    assertEquals((bytes + 7) / 8 * 8, stored, REPLAY);
    assertEquals(bytes, checksum.validBytes(base, bytes, mix), REPLAY);
    assertTrue(checksum.valid(base, stored, mix), REPLAY);
    assertFalse(checksum.valid(base, bytes - 1, mix), "an object longer than its room, " + REPLAY);
    assertFalse(checksum.valid(base, stored, mix ^ 1), REPLAY);
    assertEquals(key.length, ObjectLayout.keyLength(memory, base));
    assertEquals(value.length, ObjectLayout.valueLength(memory, base));
    assertFalse(ObjectLayout.tombstone(memory, base));
    MemorySegment object = memory.asSlice(base, stored);
    assertArrayEquals(key, object.asSlice(10, key.length).toArray(ValueLayout.JAVA_BYTE), REPLAY);
    assertArrayEquals(
        value,
        object.asSlice(10 + key.length, value.length).toArray(ValueLayout.JAVA_BYTE),
        REPLAY);
    for (int i = bytes; i < stored; i++) {
      assertEquals(0, object.get(ValueLayout.JAVA_BYTE, i), "padding, " + REPLAY);
    }
    if (base + stored < memory.byteSize()) {
      assertEquals(
          (byte) 0xEE,
          memory.get(ValueLayout.JAVA_BYTE, base + stored),
          "behind the object, " + REPLAY);
    }
  }

  @Test
  void theChecksumIsCrc32cOfEverythingBehindIt() {
    byte[] object = new byte[24];
    write(
        new ObjectWriter(MemorySegment.ofArray(object)),
        0,
        new byte[] {'k'},
        new byte[] {'v', 'w'},
        0x1234_5678);
    CRC32C crc = new CRC32C();
    crc.update(object, 4, 9);
    assertEquals(
        (int) crc.getValue() ^ 0x1234_5678,
        ByteBuffer.wrap(object).order(ByteOrder.LITTLE_ENDIAN).getInt(0));
  }

  @Test
  void everyFlippedBitIsNoticed() {
    byte[] object = new byte[40];
    MemorySegment memory = MemorySegment.ofArray(object);
    ObjectChecksum checksum = new ObjectChecksum(memory);
    byte[] key = {1, 2, 3};
    byte[] value = bytes(new SplittableRandom(SEED), 25);
    write(new ObjectWriter(memory), 0, key, value, 99);
    for (int bit = 0; bit < 38 * 8; bit++) {
      object[bit / 8] ^= (byte) (1 << bit % 8);
      assertFalse(checksum.valid(0, 40, 99), "bit " + bit);
      object[bit / 8] ^= (byte) (1 << bit % 8);
    }
    assertTrue(checksum.valid(0, 40, 99));
  }

  @Test
  void everyPartOfAWriteOverOtherBytesIsInvalid() {
    RandomGenerator random = new SplittableRandom(SEED);
    byte[] whole = new byte[80];
    MemorySegment memory = MemorySegment.ofArray(whole);
    write(new ObjectWriter(memory), 0, new byte[] {1, 2, 3}, bytes(random, 59), 7);
    byte[] torn = new byte[80];
    MemorySegment tornMemory = MemorySegment.ofArray(torn);
    ObjectChecksum checksum = new ObjectChecksum(tornMemory);
    for (int arrived = 0; arrived < 1 << 10; arrived++) {
      random.nextBytes(torn);
      if (arrived % 2 == 0) {
        Arrays.fill(torn, (byte) 0);
      }
      for (int word = 0; word < 10; word++) {
        if ((arrived & 1 << word) != 0) {
          System.arraycopy(whole, word * 8, torn, word * 8, 8);
        }
      }
      // The object is 72 bytes: the last word is not its own.
      assertEquals(
          (arrived & 0x1FF) == 0x1FF,
          checksum.valid(0, 80, 7),
          "words arrived " + Integer.toBinaryString(arrived) + ", " + REPLAY);
    }
  }

  @Test
  void tombstonesHaveAKeyAndNoValue() {
    MemorySegment memory = MemorySegment.ofArray(new byte[32]);
    MemorySegment key = MemorySegment.ofArray(new byte[] {9, 8, 7});
    ObjectWriter writer = new ObjectWriter(memory);
    assertEquals(16, writer.write(8, key, 1, 2, null, 0, 0, true, 5));
    assertTrue(ObjectLayout.tombstone(memory, 8));
    assertEquals(12, new ObjectChecksum(memory).validBytes(8, 16, 5));
    assertThrows(
        IllegalArgumentException.class, () -> writer.write(8, key, 0, 2, key, 0, 1, true, 5));
    memory.set(ValueLayout.JAVA_BYTE, 8 + 4, (byte) 1);
    assertFalse(ObjectLayout.plausible(memory, 8, 24), "a tombstone with a value");
  }

  @Test
  void lengthsOutOfRangeAreRefused() {
    ObjectWriter writer = new ObjectWriter(MemorySegment.ofArray(new byte[64]));
    MemorySegment bytes = MemorySegment.ofArray(new byte[1 << 17]);
    assertThrows(
        IllegalArgumentException.class, () -> writer.write(0, bytes, 0, 0, bytes, 0, 1, false, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> writer.write(0, bytes, 0, 65536, bytes, 0, 1, false, 0));
    assertThrows(
        IllegalArgumentException.class, () -> writer.write(0, bytes, 0, 1, bytes, 0, -1, false, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> writer.write(0, bytes, 0, 1, bytes, 0, 1 << 24, false, 0));
    assertThrows(
        IndexOutOfBoundsException.class,
        () -> writer.write(0, bytes, 0, 1, bytes, 0, 60, false, 0));
  }

  @Test
  void theLongestKeyAndTheLongestValueFit() {
    int mix = 3;
    byte[] object =
        new byte[ObjectLayout.padded(ObjectLayout.bytes(65535, ObjectLayout.VALUE_BYTES_MAX))];
    MemorySegment memory = MemorySegment.ofArray(object);
    byte[] value = new byte[ObjectLayout.VALUE_BYTES_MAX];
    value[value.length - 1] = 1;
    assertEquals(object.length, write(new ObjectWriter(memory), 0, new byte[65535], value, mix));
    assertEquals(
        10 + 65535 + 0xFF_FFFF, new ObjectChecksum(memory).validBytes(0, object.length, mix));
  }

  @Test
  void zerosAndUnknownFlagsAreNeverAnObject() {
    MemorySegment memory = MemorySegment.ofArray(new byte[64]);
    assertFalse(ObjectLayout.plausible(memory, 0, 64));
    memory.fill((byte) 0xFF);
    assertFalse(ObjectLayout.plausible(memory, 0, 64));
    for (int flag = 1; flag < 8; flag++) {
      memory.fill((byte) 0);
      memory.set(ValueLayout.JAVA_BYTE, 8, (byte) 1);
      assertTrue(ObjectLayout.plausible(memory, 0, 11));
      memory.set(ValueLayout.JAVA_BYTE, 7, (byte) (1 << flag));
      assertFalse(ObjectLayout.plausible(memory, 0, 64), "flag " + flag);
    }
    for (int room = 0; room < 11; room++) {
      assertFalse(ObjectLayout.plausible(memory, 64 - room, room), "room " + room);
    }
  }

  @Test
  void keysAreEqualOnlyWhole() {
    MemorySegment memory = MemorySegment.ofArray(new byte[64]);
    byte[] key = {5, 6, 7, 8, 9};
    write(new ObjectWriter(memory), 8, key, new byte[] {1, 1}, 0);
    MemorySegment probe = MemorySegment.ofArray(new byte[] {0, 5, 6, 7, 8, 9, 1});
    assertTrue(ObjectLayout.keyEquals(memory, 8, probe, 1, 5));
    assertFalse(ObjectLayout.keyEquals(memory, 8, probe, 1, 4));
    assertFalse(ObjectLayout.keyEquals(memory, 8, probe, 1, 6));
    for (int i = 0; i < 5; i++) {
      byte[] other = key.clone();
      other[i] ^= 1;
      assertFalse(ObjectLayout.keyEquals(memory, 8, MemorySegment.ofArray(other), 0, 5));
    }
  }

  /**
   * By construction: a bijection of the generation, and of the offset. Checked on a million
   * neighbours each.
   */
  @Test
  void aPlaceNeverHasTheSameMixInTwoGenerationsNorAGenerationAtTwoPlaces() {
    int[] mixes = new int[1_000_000];
    for (int i = 0; i < mixes.length; i++) {
      mixes[i] = ObjectChecksum.positionMix(3, i + 1, 8);
    }
    requireDistinct(mixes);
    for (int i = 0; i < mixes.length; i++) {
      mixes[i] = ObjectChecksum.positionMix(3, 17, i);
    }
    requireDistinct(mixes);
  }

  private static void requireDistinct(int[] mixes) {
    Arrays.sort(mixes);
    for (int i = 1; i < mixes.length; i++) {
      assertTrue(mixes[i - 1] != mixes[i], "mix " + mixes[i]);
    }
  }

  /** Among unrelated positions as many meet as among random numbers: n²/2³³. */
  @Test
  void mixesLookRandom() {
    RandomGenerator random = new SplittableRandom(SEED);
    int n = 1 << 20;
    int[] mixes = new int[n];
    int[] bits = new int[32];
    for (int i = 0; i < n; i++) {
      int generation = 1 + random.nextInt(1 << 16);
      mixes[i] = ObjectChecksum.positionMix(generation & 0xFF, generation, random.nextInt(1 << 27));
      for (int bit = 0; bit < 32; bit++) {
        bits[bit] += mixes[i] >>> bit & 1;
      }
    }
    for (int bit = 0; bit < 32; bit++) {
      assertTrue(
          Math.abs(bits[bit] - n / 2) < 3 * Math.sqrt(n),
          "bit " + bit + " is set " + bits[bit] + " times in " + n + ", " + REPLAY);
    }
    Arrays.sort(mixes);
    int equal = 0;
    for (int i = 1; i < n; i++) {
      equal += mixes[i - 1] == mixes[i] ? 1 : 0;
    }
    assertTrue(equal > 40 && equal < 320, "equal mixes: " + equal + ", 128 expected, " + REPLAY);
  }

  /** One place further, or one generation later: about half of the bits differ. */
  @Test
  void neighboursDifferInHalfOfTheBits() {
    RandomGenerator random = new SplittableRandom(SEED);
    long alongOffset = 0;
    long alongGeneration = 0;
    int n = 100_000;
    for (int i = 0; i < n; i++) {
      int generation = 1 + random.nextInt(1 << 16);
      int offset = random.nextInt(1 << 27);
      int mix = ObjectChecksum.positionMix(1, generation, offset);
      alongOffset += Integer.bitCount(mix ^ ObjectChecksum.positionMix(1, generation, offset + 1));
      alongGeneration +=
          Integer.bitCount(mix ^ ObjectChecksum.positionMix(1, generation + 1, offset));
    }
    assertEquals(16.0, (double) alongOffset / n, 0.5, REPLAY);
    assertEquals(16.0, (double) alongGeneration / n, 0.5, REPLAY);
  }

  @Test
  void geometryArithmeticAgreesWithDivision() {
    for (LogGeometry geometry :
        new LogGeometry[] {
          new LogGeometry(1, 1L << 30, 8 << 20, 64),
          new LogGeometry(256, 64 << 10, 4 << 10, 65536),
          new LogGeometry(7, 1 << 20, 1 << 20, 3)
        }) {
      RandomGenerator random = new SplittableRandom(SEED);
      for (int i = 0; i < 10_000; i++) {
        int offset = random.nextInt() >>> 1;
        int index = geometry.regionIndex(offset);
        long place = geometry.place(offset);
        assertEquals(offset * 8L / geometry.regionBytes(), index, REPLAY);
        assertEquals(offset * 8L % geometry.regionBytes(), place, REPLAY);
        assertEquals(offset, geometry.offset(index, place), REPLAY);
        assertEquals(
            geometry.segmentBytes() - place % geometry.segmentBytes(),
            geometry.room(place),
            REPLAY);
        assertEquals(0, geometry.segmentEnd(place) % geometry.segmentBytes(), REPLAY);
      }
    }
    assertEquals(16, new LogGeometry(1, 1L << 30, 8 << 20, 64).regionsPerHeadMax());
    assertEquals(16L << 30, new LogGeometry(1, 1L << 30, 8 << 20, 64).capacityBytes());
    assertEquals(64L << 30, new LogGeometry(8, 1L << 30, 8 << 20, 64).capacityBytes());
  }
}
