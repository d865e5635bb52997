package io.erda.eval.experiments.keeping;

import static io.erda.eval.report.Figure.number;
import static io.erda.eval.report.Figure.perSecond;
import static io.erda.eval.report.Figure.ratio;

import io.erda.eval.Experiment;
import io.erda.eval.load.Overwriter;
import io.erda.eval.load.ServedStore;
import io.erda.eval.process.Child;
import io.erda.eval.process.ProcessException;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Backs up a store that two processes overwrite as fast as they can: measures the slowdown, and
 * checks that in the restored store every key has a value at least as new as when the backup began.
 */
public final class BackupExperiment implements Experiment {
  private static final int WORKERS = 2;
  private static final int VALUE_BYTES = 1024;
  private static final double THROUGHPUT_MIN = 0.8;
  private static final long SETTLE_MS = 2_000;
  private static final int POLL_MS = 5;

  @Override
  public String name() {
    return "backup";
  }

  @Override
  public String what() {
    return "two processes put at least 0.8 times as much while a backup is made as in stretches as"
        + " long without one, and restored elsewhere every key is as new as when it began";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    int rounds = context.roundsOr(5, 2);
    int keys = context.quick() ? 20_000 : 200_000;
    double[] with = new double[rounds];
    double[] without = new double[rounds];
    double[] seconds = new double[rounds];
    try (ServedStore store = ServedStore.create(context, name(), List.of());
        Load load = new Load(context, store, keys)) {
      context.progress().step("backup");
      load.start();
      for (int round = 0; round < rounds; round++) {
        context.progress().at("round " + (round + 1) + " of " + rounds);
        Copy copy = load.backUp();
        with[round] = load.rate();
        without[round] = load.without(copy.seconds());
        seconds[round] = copy.seconds();
        if (round == rounds - 1) {
          load.restoreElsewhere(copy);
        }
        context.children().removeNow(copy.directory());
      }
      load.end();
      context.progress().done("");
    } catch (IOException e) {
      throw new ProcessException("backup: " + e.getMessage(), e);
    }
    return context
        .report()
        .given("objects", keys * WORKERS)
        .given("valueBytes", VALUE_BYTES)
        .add(
            Figures.list("backup")
                .add(
                    perSecond("puts without", without),
                    perSecond("puts with a backup", with),
                    ratio("with / without", Rounds.ratios(with, without)).atLeast(THROUGHPUT_MIN),
                    number("seconds of a backup", seconds)));
  }

  /**
   * A backup.
   *
   * @param directory of the backup
   * @param before the state of each worker when it began
   * @param after the state of each worker when it ended
   * @param seconds how long it took, including the start of its process
   */
  private record Copy(Path directory, List<byte[]> before, List<byte[]> after, double seconds) {}

  /** The workers, which never stop, and the work beside them. */
  private static final class Load implements AutoCloseable {
    private final Context context;
    private final Commands commands;
    private final ServedStore store;
    private final Overwriter.Keys keys;
    private final List<Overwriter> workers = new ArrayList<>();
    private double rate;

    Load(Context context, ServedStore store, int keys) {
      this.context = context;
      this.commands = new Commands(context);
      this.store = store;
      this.keys = new Overwriter.Keys(keys, VALUE_BYTES, "uniform");
    }

    /** First puts every key some times. */
    void start() throws IOException, InterruptedException {
      Path remembered = context.newDirectory("backup-workers");
      for (int i = 0; i < WORKERS; i++) {
        workers.add(Overwriter.start(context, store.server().uri(), remembered, i, keys));
      }
      for (Overwriter worker : workers) {
        worker.run(3L * keys.count());
      }
      workers.forEach(Overwriter::awaitRan);
      for (Overwriter worker : workers) {
        worker.run(Long.MAX_VALUE);
      }
      Thread.sleep(SETTLE_MS);
    }

    /** Puts a second during the last work. */
    double rate() {
      return rate;
    }

    double without(double seconds) throws InterruptedException {
      long before = done();
      long startNs = System.nanoTime();
      Thread.sleep((long) (seconds * 1e3));
      note(before, startNs);
      return rate;
    }

    Copy backUp() throws InterruptedException {
      Path directory = context.newDirectory("backup-copy");
      List<byte[]> before = remembered();
      long doneBefore = done();
      long startNs = System.nanoTime();
      Child backup = commands.backup(store.server().uri(), directory);
      while (backup.isAlive()) {
        Thread.sleep(POLL_MS);
        workers.forEach(Overwriter::requireAlive);
      }
      note(doneBefore, startNs);
      double seconds = (System.nanoTime() - startNs) / 1e9;
      commands.await(backup);
      return new Copy(directory, before, remembered(), seconds);
    }

    private void note(long doneBefore, long startNs) {
      rate = (done() - doneBefore) * 1e9 / (System.nanoTime() - startNs);
    }

    private long done() {
      return workers.stream().mapToLong(Overwriter::done).sum();
    }

    private List<byte[]> remembered() {
      return workers.stream().map(Overwriter::remembered).toList();
    }

    /** Checks the restored store: every key must be as it was during the backup. */
    void restoreElsewhere(Copy copy) throws IOException {
      Path remembered = context.newDirectory("backup-restored-workers");
      Path data;
      try (ServedStore restored = ServedStore.create(context, "backup-restored", List.of())) {
        data = restored.data();
        commands.restore(restored.server().uri(), copy.directory());
        for (int i = 0; i < WORKERS; i++) {
          try (Overwriter judge =
              workers.get(i).between(copy.before().get(i), copy.after().get(i), remembered)) {
            judge.startAgain(restored.server().uri());
            judge.end();
          }
        }
      }
      Commands.verify(data);
    }

    /** Kills the workers, and checks the store itself with others. */
    void end() {
      for (Overwriter worker : workers) {
        worker.kill();
        worker.startAgain(store.server().uri());
        worker.end();
      }
    }

    @Override
    public void close() {
      workers.forEach(Overwriter::close);
    }
  }
}
