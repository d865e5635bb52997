package io.erda.eval.experiments.keeping;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.console.Numbers;
import io.erda.eval.Experiment;
import io.erda.eval.process.ProcessException;
import io.erda.eval.report.Part;
import io.erda.eval.report.Report;
import io.erda.eval.report.Table;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Two hours of load, kills, backups, full disks and restarts: nothing is lost, and memory,
 * descriptors, files and latencies are at the end what they were after ten minutes.
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
    return "two hours (24 cycles; --rounds says how many) of load, kills, backups, restarts and, on"
        + " a file system of at most 8 GB, full disks: memory, descriptors, files and latencies at"
        + " the end as after ten minutes";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    int cycles = context.rounds() > 0 ? context.rounds() : context.quick() ? QUICK_CYCLES : CYCLES;
    try (EnduranceRun run =
        new EnduranceRun(context, cycles, context.quick() ? QUICK_CYCLE_NS : CYCLE_NS)) {
      run.run();
      return report(run, !context.quick());
    } catch (IOException e) {
      throw new ProcessException("endurance: " + e.getMessage(), e);
    }
  }

  private static Report report(EnduranceRun run, boolean judged) {
    ObjectNode json = new ObjectMapper().createObjectNode();
    json.put("puts", run.puts())
        .put("kills", run.kills())
        .put("stops", run.stops())
        .put("backups", run.backups())
        .put("fullDisks", run.fullDisks());
    List<Part> parts = new ArrayList<>();
    parts.add(
        new Table("what happened", "")
            .row("puts of the overwriting processes", Numbers.count(run.puts()))
            .row("kills", run.kills())
            .row("servers ended by a signal", run.stops())
            .row("backups restored and verified", run.backups())
            .row("full disks", run.fullDisks()));
    List<String> missed = new ArrayList<>();
    run.course().report(judged, parts, json, missed);
    List<String> unjudged =
        judged ? List.of() : List.of("what must not grow in two hours: too short");
    return Report.of(parts, json, missed, unjudged);
  }
}
