package io.erda.eval.experiments.scale;

import io.erda.eval.Experiment;
import io.erda.eval.experiments.scale.Growth.Found;
import io.erda.eval.report.Figure;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import java.util.List;

/**
 * How the times of operations change as the store grows, as its table fills, as values grow, and as
 * clients are added; and that of a restart as the store grows.
 */
public final class ScaleExperiment implements Experiment {
  private static final List<Growth> GROWTHS =
      List.of(
          new StoreGrows(),
          new TableFills(),
          new ValuesGrow(),
          new ClientsGrow(),
          new RestartBySize());

  @Override
  public String name() {
    return "scale";
  }

  @Override
  public String what() {
    return "gets beside the floor, misses and puts are measured with 10³ to 10⁷ objects, a table"
        + " that fills, values of 16 B to 64 KiB and 1 to 64 connections: from 10⁵ to 10⁷ objects"
        + " a get loses at most 1.5 times what the floor loses, and a restart at 10⁷ takes under 1"
        + " s, 100 ms of it ours";
  }

  @Override
  public Report run(Context context) {
    Report report = context.report();
    for (Growth growth : GROWTHS) {
      String name = growth.getClass().getSimpleName();
      Found found = growth.measure(context);
      found.curve().tell(name, report);
      report.words(found.words());
      if (!found.judged().isEmpty()) {
        report.add(
            name, Figures.list("what is expected").add(found.judged().toArray(Figure[]::new)));
      }
    }
    return report.words(
        "A miss is a get of a key that is not there. It depends on none before it, so that the"
            + " processor begins the next one early; a get's key depends on the value before.");
  }
}
