package io.erda.eval.peers;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.console.Numbers;
import io.erda.eval.load.LoadResult;
import io.erda.eval.load.Percentiles;
import io.erda.eval.peers.PeerFigures.Spread;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.plot.BarPlot;
import io.erda.eval.report.Part;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.Table;
import io.erda.eval.report.Words;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The figures as text, as JSON and as a plot. */
final class YcsbReport {
  /** The slowest in a thousand of fewer operations are chance. */
  private static final long COUNT_FOR_P999 = 10_000;

  /** A system that does less than this share of what is due does not keep the rate. */
  private static final double KEPT_MIN = 0.99;

  private final Stage stage;
  private final List<PeerSystem> systems;
  private final YcsbFigures figures;

  YcsbReport(Stage stage, List<PeerSystem> systems, YcsbFigures figures) {
    this.stage = stage;
    this.systems = systems;
    this.figures = figures;
  }

  Report report() {
    List<Part> parts = new ArrayList<>();
    parts.add(
        new Words(
            String.format(
                Locale.ROOT,
                "By YCSB, one thread, %s objects of 1 KiB, one field each: thousands of operations"
                    + " a second, one after the other, and how long reads of C and updates of A"
                    + " took; %s of %.2f s, after %.2f s of each workload. The"
                    + " load is by a fresh JVM, once. An update's time has the making of its random"
                    + " bytes in it, a read's their copy for YCSB; the last row shows what that"
                    + " takes. What a store does in threads of its own behind updates (RocksDB's"
                    + " flushes) it does between the turns.",
                Numbers.count(YcsbExperiment.objects(stage)),
                Rounds.inWords(stage.rounds()),
                seconds(stage.sizes().turn()),
                seconds(YcsbExperiment.warmUp(stage)))));
    parts.add(byYcsb());
    parts.add(
        new Words(
            String.format(
                Locale.ROOT,
                "Without YCSB, keys uniform, a get and a put in turns, %s operations a second in"
                    + " all, each timed from when it was due: who is late makes those behind late,"
                    + " too: %s of %.2f s, and the longest of all. The thread spins until an"
                    + " operation is due, and leaves its core to no server that sleeps meanwhile.",
                Numbers.count(perSecondDue()),
                Rounds.inWords(stage.rounds()),
                seconds(YcsbExperiment.paced(stage)))));
    parts.add(paced());
    parts.addAll(notKept());
    if (stage.context().quick()) {
      parts.add(new Words("A quick run is too short for stores and compilers to be warm."));
    }
    parts.addAll(stage.leftOut());
    parts.add(plot());
    return Report.of(parts, json(), missed());
  }

  private static double seconds(Duration time) {
    return time.toMillis() / 1e3;
  }

  private static double perSecondDue() {
    return 1e9 / YcsbExperiment.INTERVAL.toNanos();
  }

  private static String letter(String workload) {
    return workload.substring("workload".length()).toUpperCase(Locale.ROOT);
  }

  private Table byYcsb() {
    List<String> header = new ArrayList<>(List.of("system", "load"));
    YcsbExperiment.WORKLOADS.forEach(workload -> header.add(letter(workload)));
    header.addAll(List.of("C: read p50", "C: p99", "A: update p50", "A: p99", "a put survives"));
    Table table = new Table(header.toArray(String[]::new));
    for (PeerSystem system : systems) {
      List<Object> cells = new ArrayList<>(List.of(stage.title(system)));
      cells.add(thousands(system, YcsbFigures.LOAD));
      YcsbExperiment.WORKLOADS.forEach(workload -> cells.add(thousands(system, workload)));
      Percentiles reads = figures.times(system, "workloadc", LoadResult::read);
      Percentiles updates = figures.times(system, "workloada", LoadResult::update);
      for (Percentiles each : List.of(reads, updates)) {
        cells.add(Numbers.time(each.p50()));
        cells.add(Numbers.time(each.p99()));
      }
      cells.add(figures.survives(system));
      table.row(cells.toArray());
    }
    return table;
  }

  private String thousands(PeerSystem system, String what) {
    double thousands = figures.perSecond(system, what).median() / 1e3;
    return String.format(Locale.ROOT, thousands < 100 ? "%.1f" : "%,.0f", thousands);
  }

  private Table paced() {
    List<String> header = new ArrayList<>(List.of("system"));
    for (String operation : List.of("get", "put")) {
      for (String which : List.of("p50", "p99", "p99.9", "longest")) {
        header.add(operation + " " + which);
      }
    }
    Table table = new Table(header.toArray(String[]::new));
    for (PeerSystem system : systems) {
      List<Object> cells = new ArrayList<>(List.of(stage.title(system)));
      Percentiles gets = figures.times(system, YcsbFigures.PACED, LoadResult::read);
      Percentiles puts = figures.times(system, YcsbFigures.PACED, LoadResult::update);
      for (Percentiles each : List.of(gets, puts)) {
        cells.add(Numbers.time(each.p50()));
        cells.add(Numbers.time(each.p99()));
        cells.add(each.count() < COUNT_FOR_P999 ? "–" : Numbers.time(each.p999()));
        cells.add(Numbers.time(each.max()));
      }
      table.row(cells.toArray());
    }
    return table;
  }

  /** Names the systems that did not keep the rate: their times say how long the queue was. */
  private List<Words> notKept() {
    List<Words> notKept = new ArrayList<>();
    for (PeerSystem system : systems) {
      double done = figures.perSecond(system, YcsbFigures.PACED).median();
      if (done < KEPT_MIN * perSecondDue()) {
        notKept.add(
            new Words(
                stage.title(system)
                    + " did not keep the rate, but "
                    + Numbers.count(done)
                    + " operations a second."));
      }
    }
    return notKept;
  }

  private List<String> missed() {
    List<String> missed = new ArrayList<>();
    for (PeerSystem system : systems) {
      if (figures.errors(system) > 0) {
        missed.add(system.title() + ": " + figures.errors(system) + " operations of YCSB's failed");
      }
      if (system.isErda() && !figures.lost(system).isEmpty()) {
        missed.add(system.title() + " lost puts in a kill: " + figures.lost(system));
      }
    }
    return missed;
  }

  private ObjectNode json() {
    ObjectNode json = stage.json();
    json.put("objects", YcsbExperiment.objects(stage))
        .put("valueBytes", stage.sizes().kib().valueBytes())
        .put("turnSeconds", seconds(stage.sizes().turn()))
        .put("pacedTurnSeconds", seconds(YcsbExperiment.paced(stage)))
        .put("pacedIntervalNs", YcsbExperiment.INTERVAL.toNanos());
    ArrayNode nodes = json.putArray("systems");
    for (PeerSystem system : systems) {
      ObjectNode node =
          stage
              .json(nodes, system)
              .put("isStore", system.isStore())
              .put("survives", figures.survives(system))
              .put("lostInKill", figures.lost(system))
              .put("errors", figures.errors(system));
      addRates(node, system, YcsbFigures.LOAD);
      for (String workload : YcsbExperiment.WORKLOADS) {
        ObjectNode rates = addRates(node, system, workload);
        addTimes(rates, "read", figures.times(system, workload, LoadResult::read));
        addTimes(rates, "update", figures.times(system, workload, LoadResult::update));
      }
      ObjectNode rates = addRates(node, system, YcsbFigures.PACED);
      addTimes(rates, "get", figures.times(system, YcsbFigures.PACED, LoadResult::read));
      addTimes(rates, "put", figures.times(system, YcsbFigures.PACED, LoadResult::update));
    }
    return json;
  }

  private ObjectNode addRates(ObjectNode node, PeerSystem system, String what) {
    Spread spread = figures.perSecond(system, what);
    ObjectNode rates = node.putObject(what).put("perSecond", spread.median());
    ArrayNode rounds = rates.putArray("roundsPerSecond");
    for (double round : spread.rounds()) {
      rounds.add(round);
    }
    return rates;
  }

  /** Nothing where there were none. */
  private static void addTimes(ObjectNode node, String operation, Percentiles times) {
    if (times.count() > 0) {
      node.putObject(operation)
          .put("p50Ns", times.p50())
          .put("p99Ns", times.p99())
          .put("p999Ns", times.p999())
          .put("maxNs", times.max());
    }
  }

  private BarPlot plot() {
    BarPlot plot =
        new BarPlot("By YCSB: thousands of operations a second, median and range", "k/s");
    for (String workload : YcsbExperiment.WORKLOADS) {
      plot.panel("YCSB-" + letter(workload));
      for (PeerSystem system : systems) {
        if (system.isStore()) {
          Spread spread = figures.perSecond(system, workload);
          plot.bar(
              stage.title(system), spread.median() / 1e3, spread.min() / 1e3, spread.max() / 1e3);
        }
      }
    }
    return plot;
  }
}
