package io.erda.eval.peers;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.eval.floor.Floor;
import io.erda.eval.peers.PeerFigures.Spread;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.plot.BarPlot;
import io.erda.eval.report.Part;
import io.erda.eval.report.Report;
import io.erda.eval.report.Table;
import io.erda.eval.report.Words;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The figures as text, as JSON and as a plot, and what they were to show. */
final class PeersReport {
  private static final String TOO_SHORT = "not judged: too short";
  private static final String MET = "met";
  private static final String MISSED = "missed";
  private static final int COLUMNS_PER_TABLE = 4;

  private final Stage stage;
  private final PeerFigures figures;
  private final List<PeerSystem> systems;

  PeersReport(Stage stage, PeerFigures figures) {
    this.stage = stage;
    this.figures = figures;
    this.systems = stage.systems();
  }

  Report report() {
    List<Part> parts = new ArrayList<>();
    parts.add(
        new Words(
            String.format(
                Locale.ROOT,
                "Median (min–max) of %d rounds, µs an operation; gets and puts after %.1f s of"
                    + " puts.",
                stage.rounds(),
                stage.sizes().firstPuts().toMillis() / 1e3)));
    Column[] columns = Column.values();
    for (int from = 0; from < columns.length; from += COLUMNS_PER_TABLE) {
      parts.add(table(List.of(columns).subList(from, from + COLUMNS_PER_TABLE)));
    }
    parts.add(Floor.words());
    parts.add(durability());
    parts.add(goals());
    parts.add(
        new Words(
            String.format(
                Locale.ROOT,
                "Of %s only Erda over shm and Chronicle Map in one process are measured, one after"
                    + " the other: such stores would push each other out of memory.",
                Column.GET_BIG.scaleTitle(stage.sizes()))));
    parts.addAll(stage.leftOut());
    parts.add(plot());
    return Report.of(parts, json(), missed(), unjudged());
  }

  private Table table(List<Column> columns) {
    List<String> header = new ArrayList<>(List.of("system"));
    columns.forEach(column -> header.add(column.title(stage.sizes())));
    header.add("a put survives");
    Table table = new Table(header.toArray(String[]::new));
    for (PeerSystem system : systems) {
      List<Object> cells = new ArrayList<>(List.of(stage.title(system)));
      columns.forEach(column -> cells.add(cell(figures.of(column, system))));
      cells.add(survives(system));
      table.row(cells.toArray());
    }
    if (columns.stream().anyMatch(column -> figures.floor(column) != null)) {
      List<Object> cells = new ArrayList<>(List.of("the floor of Erda over shm"));
      columns.forEach(
          column -> cells.add(figures.floor(column) == null ? "–" : micros(figures.floor(column))));
      cells.add("–");
      table.row(cells.toArray());
    }
    return table;
  }

  /** What a put survives by what its store says, unless a kill has shown that it is less. */
  private String survives(PeerSystem system) {
    return figures.lost(system).isEmpty() ? figures.durability(system) : "not a kill -9";
  }

  private static String cell(Spread spread) {
    return spread == null
        ? "–"
        : micros(spread.median()) + " (" + micros(spread.min()) + "–" + micros(spread.max()) + ")";
  }

  private static String micros(double ns) {
    return String.format(Locale.ROOT, ns < 10_000 ? "%.2f" : "%.1f", ns / 1e3);
  }

  private Table durability() {
    Table table = new Table("system", "what was put survives, it says", "after a kill -9");
    for (PeerSystem system : systems) {
      String lost = figures.lost(system);
      table.row(
          stage.title(system),
          figures.durability(system),
          lost.isEmpty() ? "all there" : "lost: " + lost);
    }
    return table;
  }

  private Table goals() {
    Table table = new Table("goal", "ratio", "at most", "");
    for (Goal goal : Goal.ALL) {
      table.row(
          what(goal),
          goal.isMeasured(figures) ? Goal.said(goal.ratio(figures)) : "–",
          Goal.said(goal.ratioMax()),
          verdict(goal));
    }
    return table;
  }

  private String what(Goal goal) {
    String beside =
        goal.beside() == goal.measured() ? "" : ", " + goal.beside().title(stage.sizes());
    return goal.system().title()
        + ", "
        + goal.measured().title(stage.sizes())
        + ", beside "
        + goal.peer().title()
        + beside;
  }

  private String verdict(Goal goal) {
    if (!goal.isMeasured(figures)) {
      return "not measured";
    }
    if (!stage.isJudged()) {
      return TOO_SHORT;
    }
    return goal.isMet(figures) ? MET : MISSED;
  }

  private List<String> missed() {
    List<String> missed = new ArrayList<>();
    for (Goal goal : Goal.ALL) {
      if (stage.isJudged() && goal.isMeasured(figures) && !goal.isMet(figures)) {
        missed.add(
            String.format(
                Locale.ROOT,
                "%s: the ratio is %s, expected at most %s",
                what(goal),
                Goal.said(goal.ratio(figures)),
                Goal.said(goal.ratioMax())));
      }
    }
    for (PeerSystem system : systems) {
      if (system.isErda() && !figures.lost(system).isEmpty()) {
        missed.add(system.title() + " lost puts in a kill: " + figures.lost(system));
      }
    }
    return missed;
  }

  private List<String> unjudged() {
    List<String> unjudged = new ArrayList<>();
    for (Goal goal : Goal.ALL) {
      String verdict = verdict(goal);
      if (!verdict.equals(MET) && !verdict.equals(MISSED)) {
        unjudged.add(what(goal) + ": " + (verdict.equals(TOO_SHORT) ? "too short" : verdict));
      }
    }
    return unjudged;
  }

  private ObjectNode json() {
    ObjectNode json = stage.json();
    json.put("secondsOfPutsBefore", stage.sizes().firstPuts().toMillis() / 1e3);
    ArrayNode nodes = json.putArray("systems");
    for (PeerSystem system : systems) {
      ObjectNode node =
          stage
              .json(nodes, system)
              .put("durability", figures.durability(system))
              .put("lostInKill", figures.lost(system));
      for (Column column : Column.values()) {
        Spread spread = figures.of(column, system);
        if (spread != null) {
          ObjectNode cell =
              node.putObject(column.name().toLowerCase(Locale.ROOT))
                  .put("what", column.title(stage.sizes()))
                  .put("medianNs", spread.median())
                  .put("minNs", spread.min())
                  .put("maxNs", spread.max());
          if (system == PeerSystem.ERDA_SHM && figures.floor(column) != null) {
            cell.put("floorNs", figures.floor(column))
                .put("timesFloor", spread.median() / figures.floor(column));
          }
          ArrayNode rounds = cell.putArray("roundsNs");
          for (double round : spread.rounds()) {
            rounds.add(round);
          }
        }
      }
    }
    ArrayNode goals = json.putArray("goals");
    for (Goal goal : Goal.ALL) {
      ObjectNode node =
          goals
              .addObject()
              .put("what", what(goal))
              .put("ratioMax", goal.ratioMax())
              .put("verdict", verdict(goal));
      if (goal.isMeasured(figures)) {
        node.put("ratio", goal.ratio(figures));
      }
    }
    return json;
  }

  private BarPlot plot() {
    BarPlot plot = new BarPlot("Erda and its peers: µs an operation, median and range", "µs");
    for (Column column : Column.values()) {
      plot.panel(column.title(stage.sizes()));
      for (PeerSystem system : systems) {
        Spread spread = figures.of(column, system);
        if (spread != null) {
          plot.bar(
              stage.title(system), spread.median() / 1e3, spread.min() / 1e3, spread.max() / 1e3);
        }
      }
    }
    return plot;
  }
}
