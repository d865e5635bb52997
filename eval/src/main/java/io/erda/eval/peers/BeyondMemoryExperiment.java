package io.erda.eval.peers;

import io.erda.eval.Experiment;
import io.erda.eval.floor.DevicePages;
import io.erda.eval.peers.BeyondMemoryFigures.Cost;
import io.erda.eval.peers.BeyondMemoryFigures.Point;
import io.erda.eval.peers.Column.Cell;
import io.erda.eval.peers.process.PeerLibraries;
import io.erda.eval.peers.process.PeerProcess;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.process.MemoryGroup;
import io.erda.eval.process.ProcessException;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * Stores from half as large as memory to several times as large: a control group gives the
 * processes of each so much memory and no more, page cache included. What an operation costs, and
 * how many pages come from the device again for it. Each store is loaded in no order, and its keys
 * are uniform, so nothing of it is hot.
 */
public final class BeyondMemoryExperiment implements Experiment {
  private static final long MEMORY_BYTES = 512L << 20;
  private static final int VALUE_BYTES = 1024;
  private static final int WARMUP_TURNS = 2;

  /** Where every put of a load waits for the device, larger stores would take hours. */
  private static final Duration LOAD_MAX = Duration.ofSeconds(60);

  /** These systems have their objects in files; the others keep all of them in memory. */
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
    return "get and put of stores that are 0.5 to 4 times as large as the memory that they have,"
        + " and pages that come from the device again, beside the peers that have files";
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
            context.quick() ? Sizes.QUICK : Sizes.FULL);
    Path device = context.newDirectory("device");
    BeyondMemoryFigures figures =
        new BeyondMemoryFigures(
            DevicePages.readNs(context.children(), device),
            DevicePages.readAhead(device),
            MEMORY_BYTES,
            VALUE_BYTES);
    for (PeerSystem system : systems(stage)) {
      for (double times : times(context)) {
        context
            .progress()
            .step(String.format(Locale.ROOT, "%s: %.1f times memory", system.title(), times));
        boolean measured = measure(stage, group, system, times, figures);
        context.progress().done("");
        if (!measured) {
          break;
        }
      }
    }
    return new BeyondMemoryReport(stage, systems(stage), figures).report();
  }

  /** Files in memory can't leave it. */
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

  static double[] times(Context context) {
    return context.quick() ? new double[] {0.5, 2} : new double[] {0.5, 1, 2, 4};
  }

  /** Returns the systems that are on this machine; a quick run has time for one. */
  private static List<PeerSystem> systems(Stage stage) {
    return stage.context().quick()
        ? SYSTEMS.subList(0, 1)
        : SYSTEMS.stream().filter(stage.systems()::contains).toList();
  }

  /** Returns whether it could be; if not, a larger store can't be either. */
  private static boolean measure(
      Stage stage,
      MemoryGroup group,
      PeerSystem system,
      double times,
      BeyondMemoryFigures figures) {
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
      figures.add(system, new Point(times, loadNs, get, put));
      return true;
    } catch (ProcessException e) {
      figures.addFailure(system, times, e.getMessage());
      return false;
    }
  }

  /** Does so for some turns until the cache is in the state that it keeps, and then counts. */
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
    return new Cost(median(ns), median(pages));
  }

  private static double median(List<Double> values) {
    return Rounds.median(values.stream().mapToDouble(value -> value).toArray());
  }
}
