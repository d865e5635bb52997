package io.erda.eval.paper;

import io.erda.eval.load.Dataset;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import site.ycsb.generator.ScrambledZipfianGenerator;

/**
 * What is asked for, in an order that all schemes get: keys of a Zipfian distribution (0.99), and
 * which of them are updated. The same for the same seed. One thread at a time, for the values.
 */
final class ZipfianKeys {
  /** A power of two. */
  private static final int LENGTH = 1 << 16;

  /** After so many operations the bytes of values change: making them is not what is measured. */
  private static final int SAME_VALUE = 1 << 10;

  private final MemorySegment[] keys;
  private final boolean[] isUpdate = new boolean[LENGTH];
  private final Dataset dataset;

  ZipfianKeys(Dataset dataset, int updatePercent, long seed) {
    this.dataset = new Dataset(dataset.objects(), dataset.valueBytes());
    ScrambledZipfianGenerator zipfian = new ScrambledZipfianGenerator(0, dataset.objects() - 1);
    SplittableRandom random = new SplittableRandom(seed);
    int[] numbers = new int[LENGTH];
    for (int i = 0; i < LENGTH; i++) {
      numbers[i] = zipfian.nextValue().intValue();
      isUpdate[i] = random.nextInt(100) < updatePercent;
    }
    keys = Dataset.keys(numbers);
  }

  /** Does the operation of a number, from 0 on. */
  void operate(Caller caller, int operation) {
    int at = operation & LENGTH - 1;
    if (isUpdate[at]) {
      boolean change = (operation & SAME_VALUE - 1) == 0;
      caller.put(keys[at], change ? dataset.value(operation) : dataset.sameValue());
    } else {
      caller.get(keys[at]);
    }
  }
}
