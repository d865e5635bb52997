package io.erda.eval.experiments.scale;

import static io.erda.eval.report.Figure.ns;

import io.erda.console.Numbers;
import io.erda.eval.Experiment.Context;
import io.erda.eval.experiments.starts.RestartTimes;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.ServedStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The time from a killed server to the first get that the next one serves, with its files in the
 * page cache.
 */
final class RestartBySize implements Growth {
  private static final int VALUE_BYTES = 64;
  private static final long TOTAL_NS_MAX = 1_000_000_000L;
  private static final long OURS_NS_MAX = 100_000_000L;
  private static final String TOTAL = "total";
  private static final String JVM = "JVM up";
  private static final String OPEN = "open and recover";
  private static final String FIRST_GET = "connect and first get";

  @Override
  public Found measure(Context context) {
    int rounds = context.roundsOr(5, 3);
    Curve curve =
        new Curve(
            "Restart after a kill, values of 64 bytes", "objects", TOTAL, JVM, OPEN, FIRST_GET);
    for (int objects : StoreGrows.sizes(context)) {
      Dataset dataset = new Dataset(objects, VALUE_BYTES);
      try (ServedStore store = Costs.storeOf(context, dataset)) {
        store.load(dataset);
        context.progress().step("kill and start");
        List<RestartTimes> times = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
          store.server().kill();
          times.add(RestartTimes.measure(store, dataset, round));
        }
        RestartTimes median = RestartTimes.median(times);
        context.progress().done(Numbers.time(median.totalNs()));
        curve.add(objects, median.totalNs(), median.jvmNs(), median.openNs(), median.firstGetNs());
      }
    }
    double large = curve.last();
    double oursNs = curve.ns(TOTAL, large) - curve.ns(JVM, large);
    return new Found(
        curve,
        String.format(
            Locale.ROOT,
            "With %s objects %s are not the start of the JVM, with %s it is %s.",
            Numbers.count(large),
            Numbers.time(oursNs),
            Numbers.count(curve.first()),
            Numbers.time(curve.ns(TOTAL, curve.first()) - curve.ns(JVM, curve.first()))),
        ns("restart of the largest", curve.ns(TOTAL, large)).under(TOTAL_NS_MAX),
        ns("restart of the largest beside the JVM's start", oursNs).atMost(OURS_NS_MAX));
  }
}
