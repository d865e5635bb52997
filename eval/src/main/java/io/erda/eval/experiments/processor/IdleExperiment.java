package io.erda.eval.experiments.processor;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.eval.Experiment;
import io.erda.eval.load.LoadChild;
import io.erda.eval.load.YcsbStore;
import io.erda.eval.process.CpuTime;
import io.erda.eval.report.Report;
import io.erda.eval.report.Table;
import java.util.ArrayList;
import java.util.List;

/** What a server and a connected client cost when nobody asks for anything. */
public final class IdleExperiment implements Experiment {
  private static final double SHARE_MAX = 0.005;

  @Override
  public String name() {
    return "idle";
  }

  @Override
  public String what() {
    return "CPU of an idle server and of an idle client that has read and written; each under 0.5%"
        + " of a core";
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
      return report(server, client);
    }
  }

  private static Report report(double server, double client) {
    ObjectNode json = new ObjectMapper().createObjectNode();
    json.put("shareMax", SHARE_MAX).put("serverShare", server).put("clientShare", client);
    List<String> missed = new ArrayList<>();
    if (server >= SHARE_MAX) {
      missed.add(
          "the idle server took "
              + ServerCpuExperiment.percent(server)
              + " of a core, expected under 0.5%");
    }
    if (client >= SHARE_MAX) {
      missed.add(
          "the idle client took "
              + ServerCpuExperiment.percent(client)
              + " of a core, expected under 0.5%");
    }
    Table table =
        new Table("process", "share of a core")
            .row("server", ServerCpuExperiment.percent(server))
            .row("client", ServerCpuExperiment.percent(client));
    return Report.of(table, json, missed);
  }
}
