package io.erda.eval.experiments.gets;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.client.ErdaClient;
import io.erda.console.Numbers;
import io.erda.eval.Experiment;
import io.erda.eval.floor.BesideFloor;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.ServedStore;
import io.erda.eval.load.StoreSize;
import io.erda.eval.process.ProcessException;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.Table;
import io.erda.eval.report.Words;
import io.erda.protocol.ErdaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What one call for 16 keys takes beside 16 calls for one key each, over shared memory, of objects
 * that are in no cache. Both go through the same random keys, and copy each value to a place of its
 * own among 16.
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
    return "getAll of 16 keys against 16 gets over shared memory, uniform keys of a million objects"
        + " of 64 bytes and of 1 KiB; interleaved rounds, at most 0.6 times";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    int objects = context.quick() ? 20_000 : 1_000_000;
    Table table =
        new Table(
            "value bytes",
            "single, a key",
            "getAll, a key",
            "ratio",
            "ratio min…max",
            "single min…max",
            "getAll min…max",
            "floor, a key",
            "single / floor",
            "getAll / floor");
    ObjectNode json = new ObjectMapper().createObjectNode();
    ArrayNode runs = json.put("objects", objects).put("ratioMax", RATIO_MAX).putArray("runs");
    List<String> missed = new ArrayList<>();
    for (int valueBytes : new int[] {64, 1024}) {
      Rounds rounds = runWith(new Dataset(objects, valueBytes), context);
      double[] ratios = ratios(rounds);
      double ratio = Rounds.median(ratios);
      double least = Arrays.stream(ratios).min().orElseThrow();
      double most = Arrays.stream(ratios).max().orElseThrow();
      table.row(
          Numbers.count(valueBytes),
          Numbers.time(rounds.median(SINGLE)),
          Numbers.time(rounds.median(TOGETHER)),
          Numbers.decimal(ratio),
          Numbers.decimal(least) + "…" + Numbers.decimal(most),
          Numbers.time(rounds.min(SINGLE)) + "…" + Numbers.time(rounds.max(SINGLE)),
          Numbers.time(rounds.min(TOGETHER)) + "…" + Numbers.time(rounds.max(TOGETHER)),
          Numbers.time(rounds.median(FLOOR)),
          Numbers.decimal(rounds.median(SINGLE) / rounds.median(FLOOR)),
          Numbers.decimal(rounds.median(TOGETHER) / rounds.median(FLOOR)));
      runs.addObject()
          .put("valueBytes", valueBytes)
          .put("singleNs", rounds.median(SINGLE))
          .put("togetherNs", rounds.median(TOGETHER))
          .put("floorNs", rounds.median(FLOOR))
          .put("singleTimesFloor", rounds.median(SINGLE) / rounds.median(FLOOR))
          .put("togetherTimesFloor", rounds.median(TOGETHER) / rounds.median(FLOOR))
          .put("ratio", ratio)
          .put("ratioLeast", least)
          .put("ratioMost", most);
      if (ratio > RATIO_MAX) {
        missed.add(
            String.format(
                Locale.ROOT,
                "of values of %d bytes getAll takes %.2f times as long as gets, expected at most"
                    + " %.1f",
                valueBytes,
                ratio,
                RATIO_MAX));
      }
    }
    Words floor =
        new Words(
            "The floor is the least that single gets can take, one after the other: neighbourhood"
                + " and object are copied from the store's own files and the checksum is computed."
                + " getAll overlaps the cache misses of its keys, and so can take less.");
    return Report.of(List.of(table, floor), json, missed);
  }

  /** Of each round: what the two took in it. */
  private static double[] ratios(Rounds rounds) {
    double[] ratios = rounds.values(TOGETHER);
    double[] single = rounds.values(SINGLE);
    for (int i = 0; i < ratios.length; i++) {
      ratios[i] /= single[i];
    }
    return ratios;
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

  /** The two ways through the keys. Each returns nanoseconds for a key. */
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
