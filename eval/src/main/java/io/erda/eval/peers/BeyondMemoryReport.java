package io.erda.eval.peers;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.console.Numbers;
import io.erda.eval.peers.BeyondMemoryFigures.Cost;
import io.erda.eval.peers.BeyondMemoryFigures.Point;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.plot.LinePlot;
import io.erda.eval.report.Part;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.Table;
import io.erda.eval.report.Words;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** The figures as text, as JSON and as a plot. */
final class BeyondMemoryReport {
  private final Stage stage;
  private final List<PeerSystem> systems;
  private final BeyondMemoryFigures figures;

  BeyondMemoryReport(Stage stage, List<PeerSystem> systems, BeyondMemoryFigures figures) {
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
                "The processes of each store have %d MiB of memory together, JVMs and page cache"
                    + " included (a control group of the kernel's). Values of %d bytes are as many"
                    + " as make the multiple of it that heads a column; one thread, keys uniform,"
                    + " %s. The load puts each object once, in no order, in a minute or not at"
                    + " all.",
                figures.memoryBytes() >> 20,
                figures.valueBytes(),
                Rounds.inWords(stage.rounds()))));
    parts.add(table("a get takes", point -> Numbers.time(point.get().ns())));
    parts.add(table("pages read again, a get", point -> Numbers.decimal(point.get().pages())));
    parts.add(table("a put takes", point -> Numbers.time(point.put().ns())));
    parts.add(table("pages read again, a put", point -> Numbers.decimal(point.put().pages())));
    parts.add(table("a put of the load took", point -> Numbers.time(point.loadNs())));
    parts.add(plot());
    parts.add(new Words(whyItBends()));
    if (!figures.readAhead().isEmpty()) {
      parts.add(new Words("The kernel reads " + figures.readAhead() + " ahead where it may."));
    }
    figures.failures().forEach((store, why) -> parts.add(new Words(store + ": " + why)));
    if (!stage.context().quick()) {
      parts.addAll(stage.leftOut());
    }
    return Report.of(parts, json(), missed());
  }

  private Table table(String what, Function<Point, String> cell) {
    double[] times = BeyondMemoryExperiment.times(stage.context());
    List<String> header = new ArrayList<>(List.of(what));
    for (double each : times) {
      header.add(String.format(Locale.ROOT, "%.1f×", each));
    }
    Table table = new Table(header.toArray(String[]::new));
    for (PeerSystem system : systems) {
      List<Object> row = new ArrayList<>(List.of(stage.title(system)));
      for (double each : times) {
        row.add(figures.point(system, each).map(cell).orElse("–"));
      }
      table.row(row.toArray());
    }
    return table;
  }

  private LinePlot plot() {
    LinePlot plot =
        new LinePlot("An operation as a store outgrows memory", "times memory", "µs")
            .logarithmic()
            .inSteps();
    curves(plot.panel("get"), point -> point.get().ns());
    curves(plot.panel("put"), point -> point.put().ns());
    return plot;
  }

  private void curves(LinePlot plot, ToDoubleFunction<Point> ns) {
    for (PeerSystem system : systems) {
      List<Point> points = figures.points(system);
      plot.curve(
          system.title().split(",", 2)[0], // the legend has little room
          points.stream().mapToDouble(Point::times).toArray(),
          points.stream().mapToDouble(point -> ns.applyAsDouble(point) / 1e3).toArray());
    }
  }

  private String whyItBends() {
    PeerSystem erda = systems.getFirst();
    List<Point> points = figures.points(erda);
    if (points.size() < 2) {
      return "";
    }
    Point small = points.getFirst();
    Point large = points.getLast();
    double bendNs = large.get().ns() - small.get().ns();
    return String.format(
        Locale.ROOT,
        "%s: from %.1f to %.1f times memory a get takes %s instead of %s, and for it %.2f pages"
            + " come from the device again instead of %.2f. The device takes %s for a page at"
            + " random that is not in the cache, which makes %.0f%% of the difference.",
        erda.title(),
        small.times(),
        large.times(),
        Numbers.time(large.get().ns()),
        Numbers.time(small.get().ns()),
        large.get().pages(),
        small.get().pages(),
        Numbers.time(figures.devicePageNs()),
        100 * (large.get().pages() - small.get().pages()) * figures.devicePageNs() / bendNs);
  }

  /** Nothing was expected but that Erda gets through. */
  private List<String> missed() {
    return figures.failures().entrySet().stream()
        .filter(failure -> failure.getKey().startsWith("Erda"))
        .map(failure -> failure.getKey() + ": " + failure.getValue())
        .toList();
  }

  private ObjectNode json() {
    ObjectNode json = stage.json();
    json.put("memoryBytes", figures.memoryBytes())
        .put("readAhead", figures.readAhead())
        .put("devicePageNs", figures.devicePageNs())
        .put("valueBytes", figures.valueBytes());
    ArrayNode nodes = json.putArray("systems");
    for (PeerSystem system : systems) {
      ObjectNode node = stage.json(nodes, system);
      ArrayNode stores = node.putArray("stores");
      for (Point point : figures.points(system)) {
        ObjectNode store =
            stores.addObject().put("timesMemory", point.times()).put("loadNs", point.loadNs());
        add(store.putObject("get"), point.get());
        add(store.putObject("put"), point.put());
      }
    }
    figures.failures().forEach(json.putObject("failures")::put);
    return json;
  }

  private static void add(ObjectNode node, Cost cost) {
    node.put("ns", cost.ns()).put("pagesReadAgain", cost.pages());
  }
}
