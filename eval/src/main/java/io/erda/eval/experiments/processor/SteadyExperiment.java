package io.erda.eval.experiments.processor;

import static io.erda.eval.report.Figure.count;
import static io.erda.eval.report.Figure.ns;
import static io.erda.eval.report.Figure.ratio;
import static io.erda.eval.report.Figure.share;

import io.erda.client.ErdaClient;
import io.erda.eval.Experiment;
import io.erda.eval.load.ServedStore;
import io.erda.eval.load.StoreSize;
import io.erda.eval.process.CpuTime;
import io.erda.eval.report.Figure;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * Puts at steady rates, from one that keeps the server polling to one at which it sleeps before
 * each put: checks that no rate in between is worse than both ends.
 *
 * <p>One client, which spins between its puts, so that there are no more pollers than cores. A put
 * that is due while the previous one is open begins when that ends; its time counts from its
 * beginning.
 */
public final class SteadyExperiment implements Experiment {
  private static final int[] GAPS_US = {5, 10, 20, 40, 60, 80, 120, 250, 500, 1000, 2000};
  private static final int ROUNDS = 5;
  private static final long ROUND_NS = 400_000_000;
  private static final long WARM_UP_NS = 200_000_000;
  private static final int VALUE_BYTES = 100;

  /** The largest ratio of the median at any rate to that at the lowest, when the server sleeps. */
  private static final double RATIO_MAX = 1.5;

  /** The least share of the requested rate that must be reached, if puts fit into its gaps. */
  private static final double RATE_MIN = 0.9;

  @Override
  public String name() {
    return "steady";
  }

  @Override
  public String what() {
    return "puts at steady rates, from a polling to a sleeping server, nowhere take over 1.5 times"
        + " as long in the median as with a server that always sleeps";
  }

  /** One rate. */
  private static final class Rate {
    final int gapUs;
    final Histogram times = new Histogram(10_000_000_000L, 3);
    long elapsedNs;
    long serverNs;

    Rate(int gapUs) {
      this.gapUs = gapUs;
    }

    double achieved() {
      return times.getTotalCount() * gapUs * 1e3 / elapsedNs;
    }

    long p50() {
      return times.getValueAtPercentile(50);
    }
  }

  @Override
  public Report run(Context context) {
    int rounds = context.quick() ? 1 : ROUNDS;
    List<Rate> rates = new ArrayList<>();
    long puts = 0;
    for (int gapUs : GAPS_US) {
      rates.add(new Rate(gapUs));
      puts += (ROUND_NS + WARM_UP_NS) / (gapUs * 1000L) * rounds;
    }
    List<String> creation = StoreSize.flags(1000, puts + 1_000_000, VALUE_BYTES + 64);
    try (ServedStore store = ServedStore.create(context, name(), creation);
        ErdaClient client = store.connect()) {
      MemorySegment key = Arena.ofAuto().allocate(16, 8);
      MemorySegment value = Arena.ofAuto().allocate(VALUE_BYTES, 8);
      for (int round = 0; round < rounds; round++) {
        context.progress().step("puts at " + GAPS_US.length + " rates, round " + (round + 1));
        for (Rate rate : rates) {
          Histogram unused = new Histogram(10_000_000_000L, 1);
          puts(client, key, value, rate.gapUs, WARM_UP_NS, unused);
          CpuTime before = store.server().cpu();
          rate.elapsedNs += puts(client, key, value, rate.gapUs, ROUND_NS, rate.times);
          rate.serverNs += store.server().cpu().since(before);
        }
        context.progress().done("");
      }
    }
    return tell(context.report(), rates);
  }

  /** Makes puts. Returns how long they took. */
  private static long puts(
      ErdaClient client,
      MemorySegment key,
      MemorySegment value,
      int gapUs,
      long durationNs,
      Histogram times) {
    long startNs = System.nanoTime();
    long count = durationNs / (gapUs * 1000L);
    for (long i = 0; i < count; i++) {
      long dueNs = startNs + i * gapUs * 1000L;
      long nowNs = System.nanoTime();
      while (nowNs < dueNs) {
        Thread.onSpinWait();
        nowNs = System.nanoTime();
      }
      client.put(key, value);
      times.recordValue(System.nanoTime() - nowNs);
    }
    return Math.max(System.nanoTime() - startNs, count * gapUs * 1000L);
  }

  private static Report tell(Report report, List<Rate> rates) {
    Figures figures = new Figures("µs from put to put");
    double sleeping = rates.getLast().p50();
    for (Rate rate : rates) {
      Figure achieved = share("of that rate", rate.achieved());
      boolean fits = rate.gapUs * 1000L > RATIO_MAX * sleeping;
      figures
          .row(rate.gapUs)
          .add(
              fits ? achieved.atLeast(RATE_MIN) : achieved,
              ns("p50", rate.p50()),
              ns("p99", rate.times.getValueAtPercentile(99)),
              ratio("p50 / that of a sleeping server", rate.p50() / sleeping).atMost(RATIO_MAX),
              share("server CPU", (double) rate.serverNs / rate.elapsedNs));
    }
    return report.add(figures);
  }
}
