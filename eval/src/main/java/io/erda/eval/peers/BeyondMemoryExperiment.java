package io.erda.eval.peers;

import static io.erda.eval.report.Figure.ns;

import io.erda.console.Numbers;
import io.erda.eval.Experiment;
import io.erda.eval.floor.DevicePages;
import io.erda.eval.peers.Column.Cell;
import io.erda.eval.peers.process.PeerLibraries;
import io.erda.eval.peers.process.PeerProcess;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.plot.LinePlot;
import io.erda.eval.process.MemoryGroup;
import io.erda.eval.process.ProcessException;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.Unit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * Stores from half as large as memory to several times as large: a control group limits the memory
 * of each store's processes, page cache included. Measures the time of an operation, and the pages
 * that it reads from the device again. Each store is loaded in random order, and its keys are
 * uniform, so no part of it is hot.
 */
public final class BeyondMemoryExperiment implements Experiment {
  private static final long MEMORY_BYTES = 512L << 20;
  private static final int VALUE_BYTES = 1024;
  private static final int WARMUP_TURNS = 2;

  /** The longest load: larger stores would take hours when every put waits for the device. */
  private static final Duration LOAD_MAX = Duration.ofSeconds(60);

  /** The systems with objects in files; the others keep all of them in memory. */
  private static final List<PeerSystem> SYSTEMS =
      List.of(
          PeerSystem.ERDA_SHM,
          PeerSystem.ERDA_EMBEDDED,
          PeerSystem.CHRONICLE_MAP,
          PeerSystem.LMDB,
          PeerSystem.ROCKSDB);

  @Override
  public String name() {
    return "beyond-memory";
  }

  @Override
  public String what() {
    return "gets and puts of stores 0.5 to 4 times as large as their memory are measured, with the"
        + " pages that come from the device again, beside the peers that have files; nothing is"
        + " expected";
  }

  @Override
  public Report run(Context context) {
    MemoryGroup group;
    try {
      requireDevice(context.temporaryDirectory());
      group = MemoryGroup.make(context.children(), MEMORY_BYTES);
      group.pagesReadAgain();
    } catch (ProcessException e) {
      return Report.skipped(e.getMessage());
    }
    Stage stage =
        new Stage(
            new Context(
                context.children(),
                context.jvm().startedBy(group.start()),
                context.temporaryDirectory(),
                context.progress(),
                context.rounds(),
                context.quick()),
            PeerLibraries.installed(),
            context.quick() ? PeerSizes.QUICK : PeerSizes.FULL);
    Path device = context.newDirectory("device");
    Report report =
        stage
            .report()
            .nothingExpected()
            .given("memoryBytes", MEMORY_BYTES)
            .given("valueBytes", VALUE_BYTES)
            .words(
                String.format(
                    Locale.ROOT,
                    "The processes of each store have %d MiB of memory together, JVMs and page"
                        + " cache included (a control group of the kernel's). Values of %d bytes"
                        + " are as many as make the multiple of it that heads a column; one thread,"
                        + " keys uniform, %s. The load puts each object once, in no order, in a"
                        + " minute or not at all.",
                    MEMORY_BYTES >> 20,
                    VALUE_BYTES,
                    Rounds.inWords(stage.rounds())));
    double[] times = context.quick() ? new double[] {0.5, 2} : new double[] {0.5, 1, 2, 4};
    double devicePageNs = DevicePages.readNs(context.children(), device);
    Map<PeerSystem, Point[]> points = new EnumMap<>(PeerSystem.class);
    for (PeerSystem system : systems(stage)) {
      Point[] measured = new Point[times.length];
      points.put(system, measured);
      for (int i = 0; i < times.length; i++) {
        String store =
            String.format(Locale.ROOT, "%s: %.1f times memory", system.title(), times[i]);
        context.progress().step(store);
        try {
          measured[i] = measure(stage, group, system, times[i]);
          context.progress().done("");
        } catch (ProcessException e) {
          // A larger store would fail, too.
          context.progress().done("failed");
          tellFailure(report, system, store + ": " + e.getMessage());
          break;
        }
      }
    }
    tell(report, stage, times, points);
    tellWhyItBends(report, times, points.get(SYSTEMS.getFirst()), devicePageNs);
    report.given("devicePageNs", devicePageNs);
    String readAhead = DevicePages.readAhead(device);
    if (!readAhead.isEmpty()) {
      report
          .given("readAhead", readAhead)
          .words("The kernel reads " + readAhead + " ahead where it may.");
    }
    if (!context.quick()) {
      stage.addLeftOut(report);
    }
    return report;
  }

  /**
   * The cost of an operation.
   *
   * @param ns its time
   * @param pages of files that were evicted and are read again for it
   */
  private record Cost(double ns, double pages) {}

  /**
   * The costs of a store.
   *
   * @param loadNs time of a put during the load
   */
  private record Point(double loadNs, Cost get, Cost put) {}

  /** Reports a failure; the only goal is that Erda does not fail. */
  private static void tellFailure(Report report, PeerSystem system, String failure) {
    if (system.isErda()) {
      report.miss(failure);
    } else {
      report.words(failure);
    }
  }

  private static void tell(
      Report report, Stage stage, double[] times, Map<PeerSystem, Point[]> points) {
    Table table =
        (head, title, unit, value) -> {
          Figures figures = new Figures(head).along(title, unit, "times memory", times);
          points.forEach((system, stores) ->
              figures
                  .row(stage.title(system).split(",", 2)[0]) // a plot's legend has little room
                  .values(
                      Arrays.stream(stores)
                          .mapToDouble(at -> at == null ? Double.NaN : value.applyAsDouble(at))
                          .toArray()));
          return figures;
        };
    Figures get = table.of("a get takes", "get", Unit.NS, at -> at.get.ns);
    Figures put = table.of("a put takes", "put", Unit.NS, at -> at.put.ns);
    String pages = "pages read again, a ";
    report
        .add(get)
        .add(table.of(pages + "get", "pages of a get", Unit.NUMBER, at -> at.get.pages))
        .add(put)
        .add(table.of(pages + "put", "pages of a put", Unit.NUMBER, at -> at.put.pages))
        .add(table.of("a put of the load took", "load", Unit.NS, at -> at.loadNs))
        .add(LinePlot.of("A get as a store outgrows memory", get).logarithmic())
        .add(LinePlot.of("A put as a store outgrows memory", put).logarithmic());
  }

  /** Makes a table of one cost of all stores. */
  private interface Table {
    Figures of(String head, String title, Unit unit, ToDoubleFunction<Point> value);
  }

  private static void tellWhyItBends(
      Report report, double[] times, Point[] erda, double devicePageNs) {
    int most = erda.length - 1;
    while (most > 0 && erda[most] == null) {
      most--;
    }
    if (most == 0) {
      return;
    }
    Point small = erda[0];
    Point large = erda[most];
    double morePages = large.get.pages - small.get.pages;
    report.words(
        String.format(
            Locale.ROOT,
            "%s: from %.1f to %.1f times memory a get takes %s instead of %s, and for it %.2f pages"
                + " come from the device again instead of %.2f. The device takes %s for a page at"
                + " random that is not in the cache, which makes %.0f%% of the difference.",
            SYSTEMS.getFirst().title(),
            times[0],
            times[most],
            Numbers.time(large.get.ns),
            Numbers.time(small.get.ns),
            large.get.pages,
            small.get.pages,
            Numbers.time(devicePageNs),
            100 * morePages * devicePageNs / (large.get.ns - small.get.ns)));
  }

  /** Requires that the files are not in memory, from which they can't be evicted. */
  private static void requireDevice(Path stores) {
    try {
      String type = Files.getFileStore(stores).type();
      if (type.equals("tmpfs") || type.equals("ramfs")) {
        throw new ProcessException(
            stores + " is in memory (" + type + "): --directory names one that is not");
      }
    } catch (IOException e) {
      throw new ProcessException("can't look at " + stores + ": " + e.getMessage(), e);
    }
  }

  /** The systems that are available on this machine; a quick run has time for one. */
  private static List<PeerSystem> systems(Stage stage) {
    return stage.context().quick()
        ? SYSTEMS.subList(0, 1)
        : SYSTEMS.stream().filter(stage.systems()::contains).toList();
  }

  private static Point measure(Stage stage, MemoryGroup group, PeerSystem system, double times) {
    long objects = (long) (times * MEMORY_BYTES / VALUE_BYTES);
    try (MeasuredPeer peer =
        MeasuredPeer.create(stage, system, new Cell(VALUE_BYTES, objects), false)) {
      PeerProcess process = peer.process();
      stage.context().progress().at("load");
      double loadNs = process.load(LOAD_MAX);
      stage.context().progress().at("get");
      Cost get = cost(stage, group, process::get);
      stage.context().progress().at("put");
      Cost put = cost(stage, group, process::put);
      return new Point(loadNs, get, put);
    }
  }

  /** Repeats operations for some turns until the cache is in a steady state, and then measures. */
  private static Cost cost(Stage stage, MemoryGroup group, ToDoubleFunction<Duration> operate) {
    Duration turn = stage.sizes().turn().multipliedBy(stage.context().quick() ? 1 : 2);
    List<Double> ns = new ArrayList<>();
    List<Double> pages = new ArrayList<>();
    for (int turns = -WARMUP_TURNS; turns < stage.rounds(); turns++) {
      long before = group.pagesReadAgain();
      double each = operate.applyAsDouble(turn);
      if (turns >= 0) {
        ns.add(each);
        pages.add((group.pagesReadAgain() - before) * each / turn.toNanos());
      }
    }
    return new Cost(Rounds.median(ns), Rounds.median(pages));
  }
}
