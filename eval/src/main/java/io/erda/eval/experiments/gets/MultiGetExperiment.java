package io.erda.eval.experiments.gets;

import static io.erda.eval.report.Figure.ns;
import static io.erda.eval.report.Figure.ratio;

import io.erda.client.ErdaClient;
import io.erda.eval.Experiment;
import io.erda.eval.floor.BesideFloor;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.ServedStore;
import io.erda.eval.load.StoreSize;
import io.erda.eval.process.ProcessException;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.protocol.ErdaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/**
 * Compares one call for 16 keys with 16 calls for one key each, over shared memory, for objects
 * that are not cached. Both use the same random keys, and copy the values to 16 places in turn.
 */
public final class MultiGetExperiment implements Experiment {
  private static final int KEYS = 16;
  private static final int SEQUENCE = 1 << 18;
  private static final double RATIO_MAX = 0.6;
  private static final String SINGLE = "single";
  private static final String TOGETHER = "together";
  private static final String FLOOR = "floor";

  @Override
  public String name() {
    return "multiget";
  }

  @Override
  public String what() {
    return "a getAll of 16 keys over shared memory takes at most 0.6 times as long as 16 gets, with"
        + " uniform keys of a million objects of 64 bytes and of 1 KiB, in interleaved rounds";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    int objects = context.quick() ? 20_000 : 1_000_000;
    Figures figures = new Figures("bytes of a value");
    for (int valueBytes : new int[] {64, 1024}) {
      Rounds rounds = runWith(new Dataset(objects, valueBytes), context);
      figures
          .row(valueBytes)
          .add(
              ns("get, a key", rounds.values(SINGLE)),
              ns("getAll, a key", rounds.values(TOGETHER)),
              ratio("getAll / get", Rounds.ratios(rounds.values(TOGETHER), rounds.values(SINGLE)))
                  .atMost(RATIO_MAX),
              ns(FLOOR, rounds.median(FLOOR)),
              ratio("get / floor", rounds.median(SINGLE) / rounds.median(FLOOR)),
              ratio("getAll / floor", rounds.median(TOGETHER) / rounds.median(FLOOR)));
    }
    return context
        .report()
        .given("objects", objects)
        .add(figures)
        .words(
            "The floor is the least that single gets can take, one after the other: neighbourhood"
                + " and object are copied from the store's own files and the checksum is computed."
                + " getAll overlaps the cache misses of its keys, and so can take less.");
  }

  private Rounds runWith(Dataset dataset, Context context) {
    int objects = dataset.objects();
    int length = context.quick() ? SEQUENCE / 16 : SEQUENCE;
    MemorySegment[] keys = Dataset.keys(dataset.sequence(length, objects));
    List<String> creation =
        StoreSize.flags(objects, objects, dataset.valueBytes() + Dataset.KEY_BYTES);
    try (ServedStore store = ServedStore.create(context, name(), creation)) {
      store.load(dataset);
      try (BesideFloor beside = BesideFloor.open(store, keys, dataset.valueBytes())) {
        Gets gets = new Gets(beside.client(), keys, dataset.valueBytes());
        context.progress().step("16 keys in one call and one by one");
        Rounds rounds =
            new Rounds()
                .measure(SINGLE, gets::singleNs)
                .measure(TOGETHER, gets::togetherNs)
                .measure(FLOOR, () -> beside.floorNs(false))
                .run(context.quick() ? 4 : 6, context.quick() ? 3 : 15, context.progress());
        context.progress().done("");
        return rounds;
      }
    }
  }

  /** The two ways of getting keys. Each returns nanoseconds for a key. */
  private static final class Gets {
    private final ErdaClient client;
    private final MemorySegment[][] groups;
    private final MemorySegment[] into = new MemorySegment[KEYS];
    private final long[] lengths = new long[KEYS];
    private final ErdaException[] errors = new ErdaException[KEYS];
    private final int valueBytes;

    Gets(ErdaClient client, MemorySegment[] keys, int valueBytes) {
      this.client = client;
      this.valueBytes = valueBytes;
      groups = new MemorySegment[keys.length / KEYS][];
      for (int i = 0; i < groups.length; i++) {
        groups[i] = Arrays.copyOfRange(keys, i * KEYS, (i + 1) * KEYS);
      }
      MemorySegment all = Arena.ofAuto().allocate((long) KEYS * valueBytes, 64);
      for (int i = 0; i < KEYS; i++) {
        into[i] = all.asSlice((long) i * valueBytes, valueBytes);
      }
    }

    double singleNs() {
      long startNs = System.nanoTime();
      for (MemorySegment[] group : groups) {
        for (int i = 0; i < KEYS; i++) {
          require(client.get(group[i], into[i]));
        }
      }
      return perKey(System.nanoTime() - startNs);
    }

    double togetherNs() {
      long startNs = System.nanoTime();
      for (MemorySegment[] group : groups) {
        client.getAll(group, into, lengths, errors);
        for (int i = 0; i < KEYS; i++) {
          require(lengths[i]);
        }
      }
      return perKey(System.nanoTime() - startNs);
    }

    private double perKey(long ns) {
      return ns / ((double) groups.length * KEYS);
    }

    private void require(long length) {
      if (length != valueBytes) {
        throw new ProcessException("a get found " + length + " bytes, expected " + valueBytes);
      }
    }
  }
}
