package io.erda.eval.baselines;

import io.erda.eval.load.Dataset;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * The sequence of operations, the same for all schemes: keys of a Zipfian distribution (0.99), and
 * whether each is updated. Determined by the seed. One thread at a time, because of the values.
 */
final class ZipfianKeys {
  /** A power of two. */
  private static final int LENGTH = 1 << 16;

  private static final double THETA = 0.99;

  /** The seed of the first client; each other client has the next one. */
  static final long FIRST_SEED = 99;

  /** A prime that divides no number of objects. */
  private static final long SCATTER = 2_147_483_647;

  /** The values change after this many operations, so that making them does not count. */
  private static final int SAME_VALUE = 1 << 10;

  private final MemorySegment[] keys;
  private final boolean[] isUpdate = new boolean[LENGTH];
  private final Dataset dataset;

  ZipfianKeys(Dataset dataset, int updatePercent, long seed) {
    this.dataset = new Dataset(dataset.objects(), dataset.valueBytes());
    double[] upTo = shares(dataset.objects());
    SplittableRandom random = new SplittableRandom(seed);
    int[] numbers = new int[LENGTH];
    for (int i = 0; i < LENGTH; i++) {
      int rank = Arrays.binarySearch(upTo, random.nextDouble());
      numbers[i] = scattered(rank < 0 ? -rank - 1 : rank, dataset.objects());
      isUpdate[i] = random.nextInt(100) < updatePercent;
    }
    keys = Dataset.keys(numbers);
  }

  /** Keys that are only read, in such an order. */
  static MemorySegment[] readAlone(Dataset dataset) {
    return new ZipfianKeys(dataset, 0, FIRST_SEED).keys;
  }

  /** The cumulative shares of the keys, by rank; the last is 1. */
  private static double[] shares(int objects) {
    double[] upTo = new double[objects];
    double sum = 0;
    for (int rank = 0; rank < objects; rank++) {
      sum += 1 / Math.pow(rank + 1, THETA);
      upTo[rank] = sum;
    }
    for (int rank = 0; rank < objects; rank++) {
      upTo[rank] /= sum;
    }
    return upTo;
  }

  /** A different number for each rank, so that hot keys are not adjacent. */
  private static int scattered(int rank, int objects) {
    return (int) ((rank * SCATTER + 1) % objects);
  }

  /** Does the operation of a number, from 0 on, with one of two calls. */
  void operate(
      Consumer<MemorySegment> get, BiConsumer<MemorySegment, MemorySegment> put, int operation) {
    int at = operation & LENGTH - 1;
    if (isUpdate[at]) {
      boolean change = (operation & SAME_VALUE - 1) == 0;
      put.accept(keys[at], change ? dataset.value(operation) : dataset.sameValue());
    } else {
      get.accept(keys[at]);
    }
  }
}
