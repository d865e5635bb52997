package io.erda.eval.experiments.scale;

import io.erda.client.ErdaClient;
import io.erda.eval.Experiment.Context;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.ServedStore;
import io.erda.eval.load.StoreSize;
import io.erda.protocol.ErdaException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A table that may not double, and is filled until an insert finds no place. One that may double
 * does so when half of it is in use.
 */
final class TableFills implements Growth {
  private static final int VALUE_BYTES = 64;
  private static final int STEP_PERCENT = 10;
  private static final int FULLEST_PERCENT = 95;
  private static final String BUCKETS_MAX = "--buckets-max";
  private static final String INSERT = "insert";

  @Override
  public Found measure(Context context) {
    int buckets = context.quick() ? 1 << 16 : 1 << 20;
    Dataset all = new Dataset(buckets, VALUE_BYTES);
    Curve curve =
        new Curve(
            "An operation as a table fills that may not double, values of 64 bytes",
            "% of buckets",
            Curve.FLOOR,
            Curve.GET,
            Curve.MISS,
            Curve.PUT,
            INSERT);
    String refused = "";
    try (ServedStore store = ServedStore.create(context, "scale", creation(context, all))) {
      int there = 0;
      for (int percent = STEP_PERCENT;
          percent <= FULLEST_PERCENT && refused.isEmpty();
          percent = percent == 90 ? FULLEST_PERCENT : percent + STEP_PERCENT) {
        int objects = (int) ((long) buckets * percent / 100);
        long startNs = System.nanoTime();
        try (ErdaClient client = store.connect()) {
          all.load(client, there, objects, context.progress());
        } catch (ErdaException.Full e) {
          refused = e.getMessage();
          context.progress().done("");
          continue;
        }
        double insertNs = (System.nanoTime() - startNs) / (double) (objects - there);
        there = objects;
        Costs costs =
            Costs.of(
                context,
                store,
                new Dataset(objects, VALUE_BYTES),
                BUCKETS_MAX,
                Integer.toString(buckets));
        curve.add(percent, costs.floorNs(), costs.getNs(), costs.missNs(), costs.putNs(), insertNs);
      }
    }
    return new Found(curve, words(curve, refused));
  }

  private static List<String> creation(Context context, Dataset all) {
    long steps = FULLEST_PERCENT / STEP_PERCENT + 1;
    List<String> flags =
        new ArrayList<>(
            StoreSize.flags(
                all.objects(),
                all.objects() + steps * Costs.putsBeside(context, all),
                Dataset.KEY_BYTES + VALUE_BYTES));
    String buckets = Integer.toString(all.objects());
    flags.set(flags.indexOf("--buckets") + 1, buckets);
    flags.addAll(List.of(BUCKETS_MAX, buckets));
    return flags;
  }

  private static String words(Curve curve, String refused) {
    double from = curve.first();
    double to = curve.last();
    return String.format(
            Locale.ROOT,
            "From %.0f to %.0f%% a get takes %.2f times as long, and the floor, which copies as"
                + " many entries however many are in use, %.2f times; a miss, which is a get of a"
                + " key that is not there, %.2f times; a put %.2f times. An insert takes %.2f times"
                + " as long (the first ones by a server that has just started).",
            from,
            to,
            curve.times(Curve.GET, from, to),
            curve.times(Curve.FLOOR, from, to),
            curve.times(Curve.MISS, from, to),
            curve.times(Curve.PUT, from, to),
            curve.times(INSERT, from, to))
        + (refused.isEmpty()
            ? ""
            : " Before the next step an insert was refused, as no displacement brought a free slot"
                + " into its neighbourhood: "
                + refused
                + ". A table that may double does so at 50%.");
  }
}
