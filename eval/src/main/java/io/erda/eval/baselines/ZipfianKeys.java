package io.erda.eval.baselines;

import io.erda.eval.load.Dataset;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * What is asked for, in an order that all schemes get: keys of a Zipfian distribution (0.99), and
 * which of them are updated. The same for the same seed. One thread at a time, for the values.
 */
final class ZipfianKeys {
  /** A power of two. */
  private static final int LENGTH = 1 << 16;

  private static final double THETA = 0.99;

  /** The first client has this seed, and each other one the next. */
  static final long FIRST_SEED = 99;

  /** A prime that no number of objects is a multiple of. */
  private static final long SCATTER = 2_147_483_647;

  /** After so many operations the bytes of values change: making them is not what is measured. */
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

  /** Keys that are read alone, in such an order. */
  static MemorySegment[] readAlone(Dataset dataset) {
    return new ZipfianKeys(dataset, 0, FIRST_SEED).keys;
  }

  /** The share that the keys of the first ranks have together, by rank; the last is 1. */
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

  /** Another number for each rank, so that hot keys don't lie side by side. */
  private static int scattered(int rank, int objects) {
    return (int) ((rank * SCATTER + 1) % objects);
  }

  /** Does the operation of a number, from 0 on, by one of two calls. */
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
