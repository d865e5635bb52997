package io.erda.eval.peers;

import static io.erda.eval.report.Figure.ns;
import static io.erda.eval.report.Figure.words;

import io.erda.eval.Experiment;
import io.erda.eval.floor.Floor;
import io.erda.eval.load.Dataset;
import io.erda.eval.peers.process.PeerLibraries;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.plot.BarPlot;
import io.erda.eval.plot.DotPlot;
import io.erda.eval.report.Figure;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import io.erda.eval.report.Unit;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Compares Erda, over shared memory and embedded, with Chronicle Map, LMDB and RocksDB, which are
 * embedded, and Redis and memcached, which are servers: one thread, 16-byte keys, uniform, each
 * system in its own processes with the options that a user would try first. No put waits for a
 * disk; Redis with its append-only file has it synced every second.
 *
 * <p>First fresh JVMs load small stores and are killed, and their puts are searched for. Then all
 * stores are brought to a steady state, and the systems take turns. Big stores would evict each
 * other from memory, so each of them is measured alone.
 *
 * <p>A system whose jars are not available, or whose program is not installed, is left out, and the
 * report says so.
 */
public final class PeersExperiment implements Experiment {
  /** The systems whose ratio is a goal at the big size; a store takes some 12 GB. */
  private static final List<PeerSystem> BIG =
      List.of(PeerSystem.ERDA_SHM, PeerSystem.CHRONICLE_MAP);

  private static final int KEYS = 1 << 18;
  private static final long SEED = 3;
  private static final int COLUMNS_PER_TABLE = 4;

  @Override
  public String name() {
    return "peers";
  }

  @Override
  public String what() {
    return "Erda stands beside Chronicle Map, LMDB, RocksDB, Redis and memcached, each in processes"
        + " of its own: its puts over shared memory take at most 1.5 times Chronicle Map's time,"
        + " its gets at most as long, and its gets of 1 KiB a 60th of Redis's time";
  }

  @Override
  public Report run(Context context) {
    Stage stage =
        new Stage(
            context, PeerLibraries.installed(), context.quick() ? PeerSizes.QUICK : PeerSizes.FULL);
    PeerFigures figures = new PeerFigures();
    List<PeerSystem> systems = stage.systems();
    new LoadMeasurement(stage, Column.Scale.KIB).run(systems, figures);
    Survival survival = loadAndKill(stage, systems);
    new SteadyMeasurement(stage, Column.Scale.SMALL, Column.GET_SMALL, Column.PUT_SMALL)
        .together(systems, figures);
    new SteadyMeasurement(stage, Column.Scale.KIB, Column.GET_KIB, Column.PUT_KIB)
        .together(systems, figures);
    new SteadyMeasurement(stage, Column.Scale.BIG, Column.GET_BIG, Column.PUT_BIG)
        .oneByOne(systems.stream().filter(BIG::contains).toList(), figures);
    addFloor(stage, Column.Scale.SMALL, Column.GET_SMALL, Column.PUT_SMALL, figures);
    addFloor(stage, Column.Scale.KIB, Column.GET_KIB, Column.PUT_KIB, figures);
    return report(stage, figures, survival);
  }

  private static Survival loadAndKill(Stage stage, List<PeerSystem> systems) {
    Survival survival = new Survival();
    stage.context().progress().step("kill processes and look what is there");
    for (PeerSystem system : systems) {
      stage.context().progress().at(system.title());
      try (MeasuredPeer peer = MeasuredPeer.create(stage, system, stage.sizes().kib(), false)) {
        peer.process().load();
        survival.killAndLook(system, peer);
      }
    }
    stage.context().progress().done("");
    return survival;
  }

  private static void addFloor(
      Stage stage, Column.Scale scale, Column get, Column put, PeerFigures figures) {
    Column.Cell cell = stage.sizes().cell(scale);
    Dataset dataset = new Dataset((int) cell.objects(), cell.valueBytes());
    MemorySegment[] keys = Dataset.keys(dataset.sequence(KEYS, SEED));
    Floor floor = Floor.of(stage.context(), dataset, keys);
    figures.addFloor(get, floor.getNs());
    figures.addFloor(put, floor.putNs());
  }

  static Report report(Stage stage, PeerFigures figures, Survival survival) {
    PeerSizes sizes = stage.sizes();
    double seconds = sizes.firstPuts().toMillis() / 1e3;
    Report report =
        stage
            .report()
            .given("secondsOfPutsBefore", seconds)
            .words(
                String.format(
                    Locale.ROOT,
                    "Median (min…max) of %d rounds; gets and puts after %.1f s of puts.",
                    stage.rounds(),
                    seconds));
    Column[] columns = Column.values();
    List<Figures> tables = new ArrayList<>();
    for (int from = 0; from < columns.length; from += COLUMNS_PER_TABLE) {
      List<Column> some = List.of(columns).subList(from, from + COLUMNS_PER_TABLE);
      tables.add(table(stage, some, figures, survival));
    }
    tables.forEach(report::add);
    report.words(Floor.WORDS);
    Figures kills = new Figures("system");
    for (PeerSystem system : stage.systems()) {
      String lost = survival.lost(system);
      kills
          .row(stage.title(system))
          .add(
              words("what was put survives, it says", survival.promised(system)),
              words("after a kill -9", lost.isEmpty() ? "all there" : "lost: " + lost));
    }
    Figures goals = new Figures("goal", "of", "beside", "its");
    for (PeerGoal goal : PeerGoal.ALL) {
      String measured = goal.measured().title(sizes);
      String beside = goal.beside().title(sizes);
      Figure ratio = goal.ratio(figures);
      goals
          .row(
              goal.system().title(),
              measured,
              goal.peer().title(),
              beside.equals(measured) ? "" : beside)
          .add(ratio);
      if (goal.isHeadline()) {
        report.headline(
            measured + ": time of " + goal.system().title() + ", beside " + goal.peer().title(),
            ratio);
      }
    }
    report
        .add(kills)
        .add("goals", goals)
        .words(
            String.format(
                Locale.ROOT,
                "Of %s only Erda over shm and Chronicle Map in one process are measured, one after"
                    + " the other: such stores would push each other out of memory.",
                Column.GET_BIG.scaleTitle(sizes)));
    stage.addLeftOut(report);
    survival.judge(report);
    report.picture(
        DotPlot.of(
            "An operation of one thread: median and range",
            tables.getFirst(),
            Unit.NS,
            Column.GET_KIB.title(sizes),
            Column.PUT_KIB.title(sizes)));
    tables.forEach(table ->
        report.add(
            BarPlot.of("Erda and its peers: an operation, median and range", table, Unit.NS)));
    return report;
  }

  private static Figures table(
      Stage stage, List<Column> columns, PeerFigures figures, Survival survival) {
    Figures table = new Figures("system");
    for (PeerSystem system : stage.systems()) {
      Figures.Row row = table.row(stage.title(system));
      for (Column column : columns) {
        double[] rounds = figures.of(column, system).orElse(new double[] {Double.NaN});
        row.add(ns(column.title(stage.sizes()), rounds));
      }
      row.add(words("a put survives", survival.shown(system)));
    }
    if (columns.stream().anyMatch(column -> figures.floor(column).isPresent())) {
      Figures.Row row = table.row("the floor of Erda over shm");
      columns.forEach(column ->
          row.add(ns(column.title(stage.sizes()), figures.floor(column).orElse(Double.NaN))));
    }
    return table;
  }
}
