package io.erda.fuzz;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * Runs a target with mutations of valid inputs. Each input follows from one seed; a failure names
 * the seed, the input, and the command that repeats it.
 *
 * <p>{@code -Derda.fuzz.seconds=N} sets how long each target runs, 1 by default; {@code
 * -Derda.seed=S} sets the first seed, and with {@code -Derda.fuzz.runs=1} only this seed is run.
 *
 * <p>Fails when a target throws anything, or allocates more than it may for one input. A target
 * that hangs is ended by the time-out of the test.
 */
public final class Fuzz {
  /** Takes one input, and catches what it may throw. */
  @FunctionalInterface
  public interface Target {
    /**
     * One input.
     *
     * @param random for all else that the target decides
     */
    void accept(byte[] input, RandomGenerator random) throws Exception;
  }

  private static final long BYTES_MAX = 16 << 20;
  private static final long[] INTERESTING = {
    0,
    1,
    2,
    7,
    8,
    9,
    -1,
    -8,
    63,
    64,
    127,
    128,
    255,
    256,
    4095,
    4096,
    0x7fff,
    0x8000,
    0xffff,
    0x10000,
    0xff_ffff,
    0x7fff_ffff,
    0x8000_0000L,
    0xffff_ffffL,
    // The largest int in 7 bits a byte.
    0x7_ffff_ffffL,
    1L << 34,
    1L << 40,
    Long.MAX_VALUE,
    Long.MIN_VALUE,
    Long.MAX_VALUE - 7
  };

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private Fuzz() {}

  /** Runs a target with mutations of valid inputs, and now and then with a valid input itself. */
  public static void run(Class<?> test, List<byte[]> valid, Target target) {
    run(test, valid, BYTES_MAX, target);
  }

  /**
   * As {@link #run(Class, List, Target)}, with another bound.
   *
   * @param bytesMax the bytes that the target may allocate on the heap for one input
   */
  public static void run(Class<?> test, List<byte[]> valid, long bytesMax, Target target) {
    long first = Long.getLong("erda.seed", System.nanoTime());
    long runs = Long.getLong("erda.fuzz.runs", Long.MAX_VALUE);
    long budgetNs = Long.getLong("erda.fuzz.seconds", 1) * 1_000_000_000L;
    long begun = System.nanoTime();
    long run = 0;
    do {
      one(test, valid, bytesMax, target, first + run, run == 0);
      run++;
    } while (run < runs && System.nanoTime() - begun < budgetNs);
    System.out.println(test.getSimpleName() + ": " + run + " inputs from seed " + first);
  }

  private static void one(
      Class<?> test, List<byte[]> valid, long bytesMax, Target target, long seed, boolean warm) {
    SplittableRandom random = new SplittableRandom(seed);
    byte[] input = mutated(valid, random);
    byte[] shown = input.clone();
    try {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      target.accept(input, random);
      long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
      // The first loads classes.
      if (allocated > bytesMax && !warm) {
        throw new AssertionError("allocated " + allocated + " bytes, at most " + bytesMax);
      }
    } catch (Throwable e) {
      String hex = HexFormat.of().formatHex(shown, 0, Math.min(shown.length, 512));
      throw new AssertionError(
          "seed %d: %s; input of %d bytes: %s; replay with -Dtest=%s -Derda.seed=%d -Derda.fuzz.runs=1"
              .formatted(seed, e, shown.length, hex, test.getSimpleName(), seed),
          e);
    }
  }

  private static byte[] mutated(List<byte[]> valid, SplittableRandom random) {
    byte[] input = valid.get(random.nextInt(valid.size())).clone();
    if (random.nextInt(20) == 0) {
      return input;
    }
    for (int i = 1 << random.nextInt(4); i > 0; i--) {
      input = mutate(input, valid, random);
    }
    return input;
  }

  private static byte[] mutate(byte[] input, List<byte[]> valid, SplittableRandom random) {
    if (input.length == 0) {
      return bytes(random, 64);
    }
    int at = random.nextInt(input.length);
    switch (random.nextInt(12)) {
      case 0, 1, 2 -> input[at] ^= (byte) (1 << random.nextInt(8));
      case 3 -> input[at] = (byte) random.nextInt();
      case 4, 5 -> put(input, at & -8, 8, any(random));
      case 6, 7 -> put(input, at & -4, 4, any(random));
      case 8 -> put(input, at, 1 + random.nextInt(8), any(random));
      case 9 -> {
        byte[] other = valid.get(random.nextInt(valid.size()));
        int length = other.length == 0 ? 0 : random.nextInt(Math.min(other.length, 64)) + 1;
        int from = other.length == 0 ? 0 : random.nextInt(other.length - length + 1);
        System.arraycopy(other, from, input, at, Math.min(length, input.length - at));
      }
      case 10 -> {
        return java.util.Arrays.copyOf(input, at);
      }
      default -> {
        byte[] more = bytes(random, 64);
        byte[] longer = java.util.Arrays.copyOf(input, input.length + more.length);
        System.arraycopy(input, at, longer, at + more.length, input.length - at);
        System.arraycopy(more, 0, longer, at, more.length);
        return longer;
      }
    }
    return input;
  }

  /** A number that decoders get wrong, or any. */
  public static long any(RandomGenerator random) {
    long chosen = INTERESTING[random.nextInt(INTERESTING.length)];
    return switch (random.nextInt(4)) {
      case 0 -> random.nextLong();
      case 1 -> chosen + random.nextInt(-9, 10);
      default -> chosen;
    };
  }

  private static void put(byte[] input, int at, int bytes, long value) {
    for (int i = 0; i < bytes && at + i < input.length; i++) {
      input[at + i] = (byte) (value >>> 8 * i);
    }
  }

  private static byte[] bytes(SplittableRandom random, int max) {
    byte[] bytes = new byte[1 + random.nextInt(max)];
    random.nextBytes(bytes);
    return bytes;
  }
}
