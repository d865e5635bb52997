package io.erda.eval.experiments.gets;

import static io.erda.eval.report.Figure.ns;
import static io.erda.eval.report.Figure.ratio;

import io.erda.console.Numbers;
import io.erda.eval.Experiment;
import io.erda.eval.floor.BesideFloor;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.ServedStore;
import io.erda.eval.load.StoreSize;
import io.erda.eval.report.Figure;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Compares a blocking get with the least work of a get.
 *
 * <p>Each key depends on the previous value, as for a caller that needs one value to know the next
 * key, so this measures the latency of a get. With keys that are known in advance the processor
 * begins the next get while it waits for this one, as far as its window reaches, which is less for
 * the longer of two loops; that is shown, too.
 */
public final class FloorExperiment implements Experiment {
  private static final int VALUE_BYTES = 1024;
  private static final int SEQUENCE = 1 << 19;
  private static final double RATIO_MAX = 1.3;
  private static final String FLOOR = "floor";
  private static final String GET = "get";
  private static final String FLOOR_AHEAD = "floor, keys known";
  private static final String GET_AHEAD = "get, keys known";

  @Override
  public String name() {
    return "floor";
  }

  @Override
  public String what() {
    return "a blocking get takes at most 1.3 times the least that it can take (neighbourhood, copy,"
        + " CRC32C on the same files), where each key depends on the value before";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    Report report = context.report().given("valueBytes", VALUE_BYTES);
    Figures figures = new Figures("objects");
    for (int objects : context.quick() ? new int[] {20_000} : new int[] {100_000, 1_000_000}) {
      Rounds rounds = runWith(objects, context);
      Figure ratio =
          ratio("get / floor", rounds.median(GET) / rounds.median(FLOOR)).atMost(RATIO_MAX);
      report.headline(
          "time of a get over shared memory, 1 KiB of "
              + Numbers.count(objects)
              + ", beside the bare memory accesses and the checksum",
          ratio);
      figures
          .row(objects)
          .add(
              ns(FLOOR, rounds.values(FLOOR)),
              ns(GET, rounds.values(GET)),
              ratio,
              ns(FLOOR_AHEAD, rounds.median(FLOOR_AHEAD)),
              ns(GET_AHEAD, rounds.median(GET_AHEAD)));
    }
    return report.add(figures);
  }

  private Rounds runWith(int objects, Context context) {
    Dataset dataset = new Dataset(objects, VALUE_BYTES);
    int length = context.quick() ? SEQUENCE / 16 : SEQUENCE;
    MemorySegment[] keys = Dataset.keys(dataset.sequence(length, objects));
    List<String> creation = StoreSize.flags(objects, objects, VALUE_BYTES + Dataset.KEY_BYTES);
    try (ServedStore store = ServedStore.create(context, name(), creation)) {
      store.load(dataset);
      context.progress().step("get against floor, " + Numbers.count(objects) + " objects");
      try (BesideFloor beside = BesideFloor.open(store, keys, VALUE_BYTES)) {
        Rounds rounds =
            new Rounds()
                .measure(FLOOR, () -> beside.floorNs(true))
                .measure(GET, () -> beside.getNs(true))
                .measure(FLOOR_AHEAD, () -> beside.floorNs(false))
                .measure(GET_AHEAD, () -> beside.getNs(false))
                .run(context.quick() ? 4 : 6, context.quick() ? 3 : 15, context.progress());
        context.progress().done("");
        return rounds;
      }
    }
  }
}
