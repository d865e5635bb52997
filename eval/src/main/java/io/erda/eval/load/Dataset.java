package io.erda.eval.load;

import io.erda.client.ErdaClient;
import io.erda.console.Numbers;
import io.erda.console.Progress;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.SplittableRandom;

/**
 * Objects with 16-byte keys and values of one size, all determined by their number, and a random
 * sequence of them that is the same for all systems. Immutable except for the scratch value; one
 * thread.
 */
public final class Dataset {
  public static final int KEY_BYTES = 16;

  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final HexFormat HEX = HexFormat.of();

  private final int objects;
  private final int valueBytes;
  private final MemorySegment value;

  public Dataset(int objects, int valueBytes) {
    this.objects = objects;
    this.valueBytes = valueBytes;
    this.value = Arena.ofAuto().allocate(valueBytes, 8);
  }

  public int objects() {
    return objects;
  }

  public int valueBytes() {
    return valueBytes;
  }

  public static byte[] key(long number) {
    return HEX.toHexDigits(number).getBytes(StandardCharsets.US_ASCII);
  }

  /** The value of an object, valid until the next call. */
  public MemorySegment value(long number) {
    SplittableRandom random = new SplittableRandom(number);
    for (long at = 0; at + 8 <= valueBytes; at += 8) {
      value.set(LONG, at, random.nextLong());
    }
    return value;
  }

  /** The last value that {@link #value} made. */
  public MemorySegment sameValue() {
    return value;
  }

  /** Puts all objects. */
  public void load(ErdaClient client, Progress progress) {
    load(client, 0, objects, progress);
  }

  /** Puts the objects from {@code from} to before {@code to}. */
  public void load(ErdaClient client, int from, int to, Progress progress) {
    progress.step(
        "load " + Numbers.count(to - from) + " objects of " + Numbers.count(valueBytes) + " bytes");
    MemorySegment key = Arena.ofAuto().allocate(KEY_BYTES, 8);
    for (int i = from; i < to; i++) {
      MemorySegment.copy(key(i), 0, key, ValueLayout.JAVA_BYTE, 0, KEY_BYTES);
      client.put(key, value(i));
      if ((i & 0x3FFF) == 0) {
        progress.at((i - from) * 100L / (to - from) + "%");
      }
    }
    progress.done("");
  }

  /** Random object numbers; the same for the same seed. */
  public int[] sequence(int length, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int[] numbers = new int[length];
    for (int i = 0; i < length; i++) {
      numbers[i] = random.nextInt(objects);
    }
    return numbers;
  }

  /** The keys of a sequence, one after the other in memory. */
  public static MemorySegment[] keys(int[] sequence) {
    MemorySegment all = Arena.ofAuto().allocate((long) KEY_BYTES * sequence.length, 8);
    MemorySegment[] keys = new MemorySegment[sequence.length];
    for (int i = 0; i < sequence.length; i++) {
      keys[i] = all.asSlice((long) i * KEY_BYTES, KEY_BYTES);
      MemorySegment.copy(key(sequence[i]), 0, keys[i], ValueLayout.JAVA_BYTE, 0, KEY_BYTES);
    }
    return keys;
  }
}
