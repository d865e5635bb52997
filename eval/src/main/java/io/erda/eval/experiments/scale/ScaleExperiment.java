package io.erda.eval.experiments.scale;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.eval.Experiment;
import io.erda.eval.experiments.scale.Growth.Found;
import io.erda.eval.report.Part;
import io.erda.eval.report.Report;
import io.erda.eval.report.Words;
import java.util.ArrayList;
import java.util.List;

/**
 * What becomes of costs as the store grows, as its table fills, as values grow, as clients grow;
 * and of a restart as the store grows.
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
    return "get beside the floor, miss, and put: 10³ to 10⁷ objects, a table that fills, values of"
        + " 16 B to 64 KiB, 1 to 64 connections; restart by size. From 10⁵ to 10⁷ a get"
        + " loses at most 1.5 times what the floor loses; a restart at 10⁷ takes under 1 s,"
        + " 100 ms of it ours";
  }

  @Override
  public Report run(Context context) {
    List<Part> parts = new ArrayList<>();
    ObjectNode json = new ObjectMapper().createObjectNode();
    List<String> missed = new ArrayList<>();
    for (Growth growth : GROWTHS) {
      Found found = growth.measure(context);
      parts.addAll(found.curve().parts(found.words()));
      found.curve().write(json.putObject(growth.getClass().getSimpleName()));
      missed.addAll(found.missed());
    }
    parts.add(
        new Words(
            "A miss is a get of a key that is not there. It depends on none before it, so that the"
                + " processor begins the next one early; a get's key depends on the value"
                + " before."));
    if (!context.quick()) {
      return Report.of(parts, json, missed);
    }
    String unjudged = "all goals, which are those of ten million objects: too short";
    return Report.of(parts, json, List.of(), List.of(unjudged));
  }
}
