package io.erda.eval.experiments.processor;

import static io.erda.eval.report.Figure.count;
import static io.erda.eval.report.Figure.perSecond;
import static io.erda.eval.report.Figure.share;

import io.erda.eval.Experiment;
import io.erda.eval.load.LoadChild;
import io.erda.eval.load.LoadPhase;
import io.erda.eval.load.LoadResult;
import io.erda.eval.load.YcsbStore;
import io.erda.eval.process.CpuTime;
import io.erda.eval.process.ServerChild;
import io.erda.eval.report.Figure;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;

/**
 * Measures the cost of readers for the server: YCSB-C runs in another process, and the processor
 * time of all threads of the server is taken from the scheduler's account, less that of an equal
 * idle interval. In a second run one read in a hundred goes to the server, which the check must
 * detect.
 */
public final class ServerCpuExperiment implements Experiment {
  private static final double SHARE_MAX = 0.01;
  private static final double SECONDS = 5;
  private static final String BEYOND_IDLE = "difference";

  @Override
  public String name() {
    return "cpu";
  }

  @Override
  public String what() {
    return "the server takes under 1% of a core during YCSB-C, less what it takes in an equal idle"
        + " interval, and over it when 1 read in 100 asks the server";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    try (YcsbStore store = YcsbStore.start(context, context.quick() ? 10_000 : 100_000, 0)) {
      LoadChild load = store.newLoad();
      context.progress().step("YCSB-C");
      LoadResult trial =
          load.run(store.phase("workloadc", 1, 300_000).withWarmup(100_000), done -> {});
      long operations = (long) (trial.throughputOpsPerSecond() * (context.quick() ? 1 : SECONDS));
      LoadPhase reads = store.phase("workloadc", 1, operations).withWarmup(10_000);
      Measured oneSided = measure(store.server(), load, reads);
      context.progress().done("");
      context.progress().step("control: one read in a hundred asks the server");
      Measured control = measure(store.server(), load, reads.withServerReadsPerMillion(10_000));
      context.progress().done("");
      load.end();
      Figures figures = new Figures("reads");
      Figure beyondIdle = share(BEYOND_IDLE, oneSided.share()).under(SHARE_MAX);
      tell(figures.row("one-sided"), oneSided, beyondIdle);
      // Otherwise the check would not see a read that the server answers.
      tell(
          figures.row("1 in 100 asks the server"),
          control,
          share(BEYOND_IDLE, control.share()).atLeast(SHARE_MAX));
      return context
          .report()
          .headline(
              "the server's share of a core while another process gets, less that of an idle"
                  + " interval",
              beyondIdle)
          .add(figures);
    }
  }

  /** Shares of one core, 1 = all of it. */
  private record Measured(double opsPerSecond, double busy, double idle, long errors) {
    double share() {
      return busy - idle;
    }
  }

  private static Measured measure(ServerChild server, LoadChild load, LoadPhase phase)
      throws InterruptedException {
    load.prepare(phase);
    Thread.sleep(200); // the server goes to sleep after the connecting
    CpuTime before = server.cpu();
    long startNs = System.nanoTime();
    load.go();
    LoadResult result = load.result(done -> {});
    long busyNs = server.cpu().since(before);
    long elapsedNs = System.nanoTime() - startNs;
    Thread.sleep(200);
    CpuTime idleBefore = server.cpu();
    long idleStartNs = System.nanoTime();
    Thread.sleep(elapsedNs / 1_000_000);
    double idle = server.cpu().since(idleBefore) / (double) (System.nanoTime() - idleStartNs);
    return new Measured(
        result.throughputOpsPerSecond(), busyNs / (double) elapsedNs, idle, result.errors());
  }

  private static void tell(Figures.Row row, Measured measured, Figure beyondIdle) {
    row.add(
        perSecond("reads", measured.opsPerSecond()),
        share("server", measured.busy()),
        share("idle server", measured.idle()),
        beyondIdle,
        count("failed", measured.errors()).atMost(0).atAnySize());
  }
}
