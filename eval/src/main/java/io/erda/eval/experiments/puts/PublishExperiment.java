package io.erda.eval.experiments.puts;

import static io.erda.eval.report.Figure.count;
import static io.erda.eval.report.Figure.ns;
import static io.erda.eval.report.Figure.number;
import static io.erda.eval.report.Figure.perSecond;

import io.erda.client.ErdaClient;
import io.erda.eval.Experiment;
import io.erda.eval.load.ServedStore;
import io.erda.eval.peers.process.PeerLibraries;
import io.erda.eval.peers.process.PeerProcess;
import io.erda.eval.peers.process.PeerSetup;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.process.Opened;
import io.erda.eval.report.Figure;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * How much one core of the server can publish: clients in their own processes, each with a full
 * pipeline of puts, and the processor time of the server's thread for a put. With more clients than
 * cores the server finds full batches whenever it runs.
 */
public final class PublishExperiment implements Experiment {
  private static final int[] CLIENTS = {1, 2, 4};
  private static final int CLIENTS_JUDGED = 4;
  private static final double NS_MAX = 700;
  private static final int SIZE_JUDGED = 64;

  /** Number of windows before those that count, in which cleaning of the log begins. */
  private static final int WARM_UP = 3;

  @Override
  public String name() {
    return "publish";
  }

  @Override
  public String what() {
    return "a put of 64 bytes takes at most 0.7 µs of the server's core, with 1 to 4 clients that"
        + " keep their pipelines full; one of 1 KiB is measured too";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    Figures figures = new Figures("bytes of a value", "clients");
    Set<String> uncounted = new TreeSet<>();
    for (int size : new int[] {SIZE_JUDGED, 1024}) {
      int objects = (context.quick() ? 100_000 : 1_000_000) * SIZE_JUDGED / size;
      try (ServedStore store = ServedStore.create(context, name(), List.of("--timed"));
          ErdaClient control = store.connect()) {
        List<PeerProcess> clients = start(context, store, objects, size);
        try {
          clients.getFirst().load();
          for (int count : CLIENTS) {
            PublishedPuts puts = measure(context, store, control, clients.subList(0, count), size);
            uncounted.addAll(puts.uncounted());
            tell(figures.row(size, count), puts, size == SIZE_JUDGED && count == CLIENTS_JUDGED);
          }
        } finally {
          closeAll(clients);
        }
      }
    }
    return context
        .report()
        .words(
            "All figures but puts are of one put, medians of all rounds. “server CPU” is what"
                + " the scheduler gave the server's thread, polling in it; “at work” the time"
                + " by the clock of its steps that had something to do, other threads that had"
                + " the core meanwhile in it. A put takes no more of the core than the smaller"
                + " of both, which stands behind them. Cleaning is in all of them; the objects of"
                + " either size have as many bytes of values together."
                + " Instructions, cache misses and page faults are those of the server's"
                + " thread, polling in them"
                + (uncounted.isEmpty() ? "." : "; " + String.join("; ", uncounted) + "."))
        .add(figures);
  }

  private static List<PeerProcess> start(
      Context context, ServedStore store, int objects, int valueBytes) {
    List<PeerProcess> clients = new ArrayList<>();
    try {
      for (int i = 0; i < CLIENTS_JUDGED; i++) {
        PeerSetup setup =
            new PeerSetup(
                context.children(),
                context.jvm(),
                PeerLibraries.installed(),
                PeerSystem.ERDA_SHM,
                store.data(),
                objects,
                valueBytes,
                true);
        clients.add(PeerProcess.join(setup, store.server().uri()));
      }
    } catch (RuntimeException e) {
      closeAll(clients);
      throw e;
    }
    return clients;
  }

  private static void closeAll(List<PeerProcess> clients) {
    try (Opened opened = new Opened()) {
      clients.forEach(client -> opened.add(client::close));
    }
  }

  private static PublishedPuts measure(
      Context context,
      ServedStore store,
      ErdaClient control,
      List<PeerProcess> clients,
      int valueBytes)
      throws InterruptedException {
    int rounds = context.roundsOr(7, 2);
    Duration window = Duration.ofMillis(context.quick() ? 300 : 2_000);
    context.progress().step("values of " + valueBytes + " bytes, " + clients.size() + " pipelines");
    PublishedPuts puts = new PublishedPuts(store.server(), control, clients, rounds);
    for (int round = -WARM_UP; round < rounds; round++) {
      context.progress().at(round < 0 ? "warm-up" : "round " + (round + 1) + " of " + rounds);
      puts.measure(window, round);
    }
    context.progress().done("");
    return puts;
  }

  private static void tell(Figures.Row row, PublishedPuts puts, boolean judged) {
    Figure atMost = ns("a put takes at most", puts.atMostNs());
    row.add(
        perSecond("puts", puts.perSecond()),
        ns("server CPU", puts.cpuNs()),
        ns("at work", puts.workNs()),
        judged ? atMost.atMost(NS_MAX) : atMost,
        count("instructions", puts.counted(PublishedPuts.INSTRUCTIONS)),
        number("cache misses", puts.counted(PublishedPuts.CACHE_MISSES)),
        number("page faults", puts.counted(PublishedPuts.PAGE_FAULTS)));
  }
}
