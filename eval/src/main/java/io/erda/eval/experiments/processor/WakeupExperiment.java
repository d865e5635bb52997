package io.erda.eval.experiments.processor;

import static io.erda.eval.report.Figure.count;
import static io.erda.eval.report.Figure.ns;
import static io.erda.eval.report.Figure.ratio;

import io.erda.client.ErdaClient;
import io.erda.eval.Experiment;
import io.erda.eval.load.ServedStore;
import io.erda.eval.load.StoreSize;
import io.erda.eval.process.EchoChild;
import io.erda.eval.report.Figure;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * The round trip of a request when the server polls, and when it sleeps; and that of a put.
 *
 * <p>A sleeping server adds a wake-up, whose cost depends on the machine: for an idle virtual core
 * that the hypervisor took away it exceeds all the rest. So the same is measured for a process that
 * only sends a byte back, in alternating requests.
 */
public final class WakeupExperiment implements Experiment {
  private static final int ROUNDS = 5;

  /** Long enough for the server or process to go to sleep. */
  private static final long PAUSE_MS = 5;

  /**
   * Number of warm-ups: code that runs once in a sleep is compiled after some thousands of runs.
   */
  private static final int WARM_UPS = 9_000;

  /** Longer than any poller polls. */
  private static final long WARM_UP_PAUSE_NS = 200_000;

  private static final long POLLING_P50_NS_MAX = 1_000;
  private static final long SLEEPING_P50_NS_MAX = 100_000;

  /** The largest ratio to a process that does nothing else, on a machine with slower wake-ups. */
  private static final double SLEEPING_RATIO_MAX = 1.3;

  @Override
  public String name() {
    return "wakeup";
  }

  @Override
  public String what() {
    return "a request to a polling server and its answer take under 1 µs, and to a sleeping one"
        + " some tens of µs, or 1.3 times what a byte to a sleeping process and back takes; a put"
        + " is measured too";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    int busyCount = context.quick() ? 50_000 : 500_000;
    int sleepyCount = context.quick() ? 50 : 300;
    List<String> creation = StoreSize.flags(1000, 3L * busyCount, 256);
    try (ServedStore store = ServedStore.create(context, name(), creation)) {
      Histogram polling = histogram();
      Histogram sleeping = histogram();
      Histogram bare = histogram();
      try (EchoChild echo = EchoChild.start(context.children(), context.jvm(), store.data());
          BareRequests requests = BareRequests.connect(store.data())) {
        context.progress().step("requests to a polling and to a sleeping server");
        times(requests::roundTripNs, busyCount);
        for (int i = 0; i < WARM_UPS; i++) {
          LockSupport.parkNanos(WARM_UP_PAUSE_NS);
          requests.roundTripNs();
          LockSupport.parkNanos(WARM_UP_PAUSE_NS);
          echo.roundTripNs();
        }
        for (int round = 0; round < ROUNDS; round++) {
          // Warm up again after the sleeps.
          times(requests::roundTripNs, busyCount / (10 * ROUNDS));
          polling.add(times(requests::roundTripNs, busyCount / ROUNDS));
          for (int i = 0; i < sleepyCount / ROUNDS; i++) {
            Thread.sleep(PAUSE_MS);
            sleeping.recordValue(requests.roundTripNs());
            Thread.sleep(PAUSE_MS);
            bare.recordValue(echo.roundTripNs());
          }
        }
        context.progress().done("");
      }
      Histogram puts;
      Histogram sleepyPuts;
      try (ErdaClient client = store.connect()) {
        MemorySegment key = Arena.ofAuto().allocate(16, 8);
        MemorySegment value = Arena.ofAuto().allocate(100, 8);
        context.progress().step("puts");
        times(() -> putNs(client, key, value), busyCount / 2);
        puts = times(() -> putNs(client, key, value), busyCount / 2);
        sleepyPuts = timesWithPauses(() -> putNs(client, key, value), sleepyCount);
        context.progress().done("");
      }
      Figures figures = new Figures("round trip");
      double bareNs = bare.getValueAtPercentile(50);
      double allowedNs = Math.max(SLEEPING_P50_NS_MAX, SLEEPING_RATIO_MAX * bareNs);
      tell(figures, "request, server polls", polling, POLLING_P50_NS_MAX);
      tell(figures, "request, server sleeps", sleeping, allowedNs)
          .add(ratio("beside a byte", sleeping.getValueAtPercentile(50) / bareNs));
      tell(figures, "a byte to a sleeping process, and back", bare, 0);
      tell(figures, "put of 100 bytes, server polls", puts, 0);
      tell(figures, "put of 100 bytes, server sleeps", sleepyPuts, 0);
      return context.report().add(figures);
    }
  }

  private static Histogram histogram() {
    return new Histogram(10_000_000_000L, 3);
  }

  private interface Timed {
    long ns();
  }

  private static Histogram times(Timed timed, int count) {
    Histogram histogram = histogram();
    for (int i = 0; i < count; i++) {
      histogram.recordValue(timed.ns());
    }
    return histogram;
  }

  private static Histogram timesWithPauses(Timed timed, int count) throws InterruptedException {
    Histogram histogram = histogram();
    for (int i = 0; i < count; i++) {
      Thread.sleep(PAUSE_MS);
      histogram.recordValue(timed.ns());
    }
    return histogram;
  }

  private static long putNs(ErdaClient client, MemorySegment key, MemorySegment value) {
    long startNs = System.nanoTime();
    client.put(key, value);
    return System.nanoTime() - startNs;
  }

  /**
   * @param p50Max 0 when there is no goal
   */
  private static Figures.Row tell(Figures figures, String name, Histogram times, double p50Max) {
    Figure p50 = ns("p50", times.getValueAtPercentile(50));
    return figures
        .row(name)
        .add(
            p50Max > 0 ? p50.atMost(p50Max) : p50,
            ns("p99", times.getValueAtPercentile(99)),
            ns("p99.9", times.getValueAtPercentile(99.9)));
  }
}
