package io.erda.eval.experiments.keeping;

import static io.erda.eval.report.Figure.count;

import io.erda.eval.Experiment;
import io.erda.eval.process.ProcessException;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import java.io.IOException;

/**
 * Two hours of load, kills, backups, full disks and restarts: nothing is lost, and memory,
 * descriptors, files and latencies at the end are those after ten minutes.
 */
public final class EnduranceExperiment implements Experiment {
  private static final int CYCLES = 24;
  private static final int QUICK_CYCLES = 4;
  private static final long CYCLE_NS = 300_000_000_000L;
  private static final long QUICK_CYCLE_NS = 8_000_000_000L;

  @Override
  public String name() {
    return "endurance";
  }

  @Override
  public String what() {
    return "after two hours (24 cycles; --rounds says how many) of load, kills, backups, restarts"
        + " and, on a file system of at most 8 GB, full disks, memory, descriptors, files and"
        + " latencies are as after ten minutes";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    int cycles = context.roundsOr(CYCLES, QUICK_CYCLES);
    try (EnduranceRun run =
        new EnduranceRun(context, cycles, context.quick() ? QUICK_CYCLE_NS : CYCLE_NS)) {
      run.run();
      Report report =
          context
              .report()
              .add(
                  Figures.list("what happened")
                      .add(
                          count("puts of the overwriting processes", run.puts()),
                          count("kills", run.kills()),
                          count("servers ended by a signal", run.stops()),
                          count("backups restored and verified", run.backups()),
                          count("full disks", run.fullDisks())));
      run.course().tell(report);
      return report;
    } catch (IOException e) {
      throw new ProcessException("endurance: " + e.getMessage(), e);
    }
  }
}
