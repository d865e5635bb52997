package io.erda.eval.experiments.scale;

import static io.erda.eval.report.Figure.ratio;
import static io.erda.eval.report.Figure.words;

import io.erda.console.Numbers;
import io.erda.eval.Experiment.Context;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.ServedStore;
import java.util.Locale;

/** From a thousand to ten million objects, each store loaded into a table of its size. */
final class StoreGrows implements Growth {
  private static final int VALUE_BYTES = 64;
  private static final int SMALL = 100_000;
  private static final double BEYOND_FLOOR_MAX = 1.5;

  /** The sizes: one for each decade, except the last of a quick run. */
  static int[] sizes(Context context) {
    return context.quick()
        ? new int[] {1_000, 10_000, SMALL, 3 * SMALL}
        : new int[] {1_000, 10_000, 100_000, 1_000_000, 10_000_000};
  }

  @Override
  public Found measure(Context context) {
    Curve curve =
        new Curve(
            "An operation as the store grows, values of 64 bytes",
            "objects",
            Curve.FLOOR,
            Curve.GET,
            Curve.MISS,
            Curve.PUT);
    for (int objects : sizes(context)) {
      Dataset dataset = new Dataset(objects, VALUE_BYTES);
      try (ServedStore store = Costs.storeOf(context, dataset)) {
        store.load(dataset);
        Costs costs = Costs.of(context, store, dataset);
        curve.add(objects, costs.floorNs(), costs.getNs(), costs.missNs(), costs.putNs());
      }
    }
    double large = curve.last();
    double beyond = curve.multiple(large) / curve.multiple(SMALL);
    String words =
        String.format(
            Locale.ROOT,
            "From %s to %s objects a get takes %.2f times as long. The floor, the same copies of"
                + " entries and object without anything of ours, takes %.2f times as long, for it"
                + " finds less in caches and page tables. Beyond that a get takes %.2f times as"
                + " long. A miss, which is a get of a key that is not there, takes"
                + " %.2f times as long, and a put %.2f times.",
            Numbers.count(SMALL),
            Numbers.count(large),
            curve.times(Curve.GET, SMALL, large),
            curve.times(Curve.FLOOR, SMALL, large),
            beyond,
            curve.times(Curve.MISS, SMALL, large),
            curve.times(Curve.PUT, SMALL, large));
    return new Found(
        curve,
        words,
        ratio(
                "get, beyond what the floor loses, from " + Numbers.count(SMALL) + " objects on",
                beyond)
            .atMost(BEYOND_FLOOR_MAX));
  }
}
