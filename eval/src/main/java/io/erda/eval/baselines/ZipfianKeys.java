package io.erda.eval.baselines;

import io.erda.eval.load.Dataset;
import io.erda.eval.load.Zipfian;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * The sequence of operations, the same for all schemes: keys of a {@link Zipfian} distribution, and
 * whether each is updated. Determined by the seed. One thread at a time, because of the values.
 */
final class ZipfianKeys {
  /** A power of two. */
  private static final int LENGTH = 1 << 16;

  /** The seed of the first client; each other client has the next one. */
  static final long FIRST_SEED = 99;

  /** The values change after this many operations, so that making them does not count. */
  private static final int SAME_VALUE = 1 << 10;

  private final MemorySegment[] keys;
  private final boolean[] isUpdate = new boolean[LENGTH];
  private final Dataset dataset;

  ZipfianKeys(Dataset dataset, int updatePercent, long seed) {
    this.dataset = new Dataset(dataset.objects(), dataset.valueBytes());
    Zipfian distribution = new Zipfian(dataset.objects());
    SplittableRandom random = new SplittableRandom(seed);
    int[] numbers = new int[LENGTH];
    for (int i = 0; i < LENGTH; i++) {
      numbers[i] = distribution.next(random);
      isUpdate[i] = random.nextInt(100) < updatePercent;
    }
    keys = Dataset.keys(numbers);
  }

  /** Keys that are only read, in such an order. */
  static MemorySegment[] readAlone(Dataset dataset) {
    return new ZipfianKeys(dataset, 0, FIRST_SEED).keys;
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
