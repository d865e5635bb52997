package io.erda.eval.experiments.processor;

import static io.erda.eval.report.Figure.share;

import io.erda.eval.Experiment;
import io.erda.eval.load.LoadChild;
import io.erda.eval.load.YcsbStore;
import io.erda.eval.process.CpuTime;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;

/** The processor time of an idle server and of an idle connected client. */
public final class IdleExperiment implements Experiment {
  private static final double SHARE_MAX = 0.005;

  @Override
  public String name() {
    return "idle";
  }

  @Override
  public String what() {
    return "an idle server and an idle client that has read and written each take under 0.5% of a"
        + " core";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    try (YcsbStore store = YcsbStore.start(context, 10_000, 50_000)) {
      LoadChild load = store.newLoad();
      context.progress().step("idle");
      load.prepare(store.phase("workloada", 1, 1).withWarmup(20_000));
      Thread.sleep(2000);
      CpuTime serverBefore = store.server().cpu();
      CpuTime clientBefore = load.cpu();
      long startNs = System.nanoTime();
      Thread.sleep(context.quick() ? 1000 : 5000);
      double elapsedNs = System.nanoTime() - startNs;
      double server = store.server().cpu().since(serverBefore) / elapsedNs;
      double client = load.cpu().since(clientBefore) / elapsedNs;
      context.progress().done("");
      load.end();
      return context
          .report()
          .add(
              Figures.list("idle, share of a core")
                  .add(
                      share("server", server).under(SHARE_MAX),
                      share("client", client).under(SHARE_MAX)));
    }
  }
}
