package io.erda.eval.experiments.scale;

import io.erda.client.ErdaClient;
import io.erda.eval.Experiment.Context;
import io.erda.eval.floor.BesideFloor;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.ServedStore;
import io.erda.eval.load.StoreSize;
import io.erda.eval.report.Rounds;
import java.lang.foreign.MemorySegment;

/**
 * The times of operations on a store, with one connection over shared memory and uniform keys:
 * nanoseconds, medians of rounds. A get depends on the previous value, as does the floor; puts
 * store a value that is in memory already.
 *
 * @param missNs of a get of an absent key
 */
record Costs(double floorNs, double getNs, double missNs, double putNs) {
  private static final int WARMUP = 3;

  /** The most bytes that the puts of a round write, so that large values don't take minutes. */
  private static final long PUT_BYTES_MAX = 64L << 20;

  /** The number of gets in a round for the largest values; more for small ones. */
  private static final int GETS_MIN = 10_000;

  /** The longest time of a round's puts: on a busy machine a put may wait for the server's turn. */
  private static final long PUTS_NS_MAX = 300_000_000L;

  /** Puts between two reads of the clock. */
  private static final int STRIDE = 16;

  private static int rounds(Context context) {
    return context.roundsOr(7, 3);
  }

  private static int gets(Context context, Dataset dataset) {
    int most = context.quick() ? 1 << 16 : 1 << 19;
    return (int) Math.max(GETS_MIN, most * 512L / (512 + dataset.valueBytes()));
  }

  private static int puts(Context context, Dataset dataset) {
    return (int) Math.min(context.quick() ? 5_000 : 50_000, PUT_BYTES_MAX / dataset.valueBytes());
  }

  /**
   * Number of puts that a store must have room for besides the load, because its log keeps them
   * all.
   */
  static long putsBeside(Context context, Dataset dataset) {
    return (long) (WARMUP + rounds(context)) * (puts(context, dataset) + STRIDE);
  }

  /** A store with room for a dataset and all puts of the measurement. */
  static ServedStore storeOf(Context context, Dataset dataset) {
    return ServedStore.create(
        context,
        "scale",
        StoreSize.flags(
            dataset.objects(),
            dataset.objects() + putsBeside(context, dataset),
            Dataset.KEY_BYTES + dataset.valueBytes()));
  }

  /**
   * Measures a store that holds a dataset. Restarts its server.
   *
   * @param serverOptions of the new server
   */
  static Costs of(Context context, ServedStore store, Dataset dataset, String... serverOptions) {
    MemorySegment[] keys = Dataset.keys(dataset.sequence(gets(context, dataset), 11));
    context.progress().step("get beside the floor, put");
    try (BesideFloor beside = BesideFloor.open(store, keys, dataset.valueBytes(), serverOptions)) {
      Rounds gets =
          new Rounds()
              .measure(Curve.FLOOR, () -> beside.floorNs(true))
              .measure(Curve.GET, () -> beside.getNs(true))
              .measure(Curve.MISS, beside::missNs)
              .run(WARMUP, rounds(context), context.progress());
      // The floor reads the places where objects lay before.
      int count = puts(context, dataset);
      Rounds puts =
          new Rounds()
              .measure(Curve.PUT, () -> putNs(beside.client(), keys, dataset.value(1), count))
              .run(WARMUP, rounds(context), context.progress());
      context.progress().done("");
      return new Costs(
          gets.median(Curve.FLOOR),
          gets.median(Curve.GET),
          gets.median(Curve.MISS),
          puts.median(Curve.PUT));
    }
  }

  private static double putNs(
      ErdaClient client, MemorySegment[] keys, MemorySegment value, int countMax) {
    long startNs = System.nanoTime();
    int count = 0;
    while (count < countMax && System.nanoTime() - startNs < PUTS_NS_MAX) {
      for (int i = 0; i < STRIDE; i++) {
        client.put(keys[count++ % keys.length], value);
      }
    }
    return (System.nanoTime() - startNs) / (double) count;
  }
}
