package io.erda.launcher.commands;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.cleaner.Phase;
import io.erda.client.ErdaClient;
import io.erda.eval.report.Table;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code erda stats}: the server's figures. */
@Command(
    name = "stats",
    description = "Show what a store holds and what its server has done since it started.",
    footer = {
      "",
      "How much of each region is live is known once the cleaner has looked, as it does when the"
          + " log runs full or when ./erda clean asks it to. In JSON a region is"
          + " region.HEAD.INDEX.live.permille; a client that a cleaned region's space waits for is"
          + " leaving.HEAD.INDEX.GENERATION.client.ID.pid; cleaner.phase counts from 0: idle,"
          + " writers, mark, measure, merge, replicate. store.readonly.reason says why a store"
          + " takes no more puts and deletes."
    })
public final class StatsCommand implements Callable<Integer> {
  private static final Pattern LIVE = Pattern.compile("region\\.(\\d+)\\.(\\d+)\\.live\\.permille");
  private static final String READ_ONLY_REASON = "store.readonly.reason";
  private static final Pattern LEAVING =
      Pattern.compile("leaving\\.(\\d+)\\.(\\d+)\\.(\\d+)\\.client\\.(\\d+)\\.pid");

  @Spec private CommandSpec spec;
  @Mixin private Connection connection;

  @Option(
      names = "--json",
      description = "Print one JSON object, names and numbers, instead of a table.")
  private boolean json;

  @Override
  public Integer call() {
    Map<String, Long> figures;
    try (ErdaClient client = connection.connect()) {
      figures = client.stats();
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      ObjectNode node = new ObjectMapper().createObjectNode();
      figures.forEach((name, value) -> {
        if (isReason(name)) {
          node.put(READ_ONLY_REASON, reason(name));
        } else {
          node.put(name, value);
        }
      });
      out.println(node);
    } else {
      out.print(figures(figures));
      regions(figures).forEach(table -> out.print("\n" + table));
    }
    return 0;
  }

  private static Table figures(Map<String, Long> figures) {
    Table table = new Table("figure", "value");
    figures.forEach((name, value) -> {
      if (name.equals("cleaner.phase")) {
        table.row(name, phase(value));
      } else if (isReason(name)) {
        table.row(READ_ONLY_REASON, reason(name));
      } else if (!LIVE.matcher(name).matches() && !LEAVING.matcher(name).matches()) {
        table.row(name, Table.count(value));
      }
    });
    return table;
  }

  /** Why a store takes no more puts stands in a figure's name. */
  private static boolean isReason(String name) {
    return name.startsWith(READ_ONLY_REASON + "=");
  }

  private static String reason(String name) {
    return name.substring(READ_ONLY_REASON.length() + 1);
  }

  private static String phase(long ordinal) {
    Phase[] phases = Phase.values();
    return ordinal >= 0 && ordinal < phases.length
        ? phases[(int) ordinal].name().toLowerCase(Locale.ROOT)
        : Long.toString(ordinal);
  }

  /** What is live of each region, and who has not left which: a table each, where there is any. */
  private static List<Table> regions(Map<String, Long> figures) {
    Table live = new Table("region", "live", "");
    Table leaving = new Table("region that waits for a client to leave", "client", "process");
    List<Table> tables = new ArrayList<>();
    figures.forEach((name, value) -> {
      Matcher ofLive = LIVE.matcher(name);
      Matcher ofLeaving = LEAVING.matcher(name);
      if (ofLive.matches()) {
        boolean cleaned =
            Long.parseLong(ofLive.group(1)) == figures.getOrDefault("cleaner.victim.head", -1L)
                && Long.parseLong(ofLive.group(2))
                    == figures.getOrDefault("cleaner.victim.region", -1L);
        live.row(
            "head " + ofLive.group(1) + ", region " + ofLive.group(2),
            String.format(Locale.ROOT, "%.1f%%", value / 10.0),
            cleaned ? "being cleaned" : "");
        add(tables, live);
      } else if (ofLeaving.matches()) {
        leaving.row(
            "head %s, region %s, generation %s"
                .formatted(ofLeaving.group(1), ofLeaving.group(2), ofLeaving.group(3)),
            ofLeaving.group(4),
            value);
        add(tables, leaving);
      }
    });
    return tables;
  }

  private static void add(List<Table> tables, Table table) {
    if (!tables.contains(table)) {
      tables.add(table);
    }
  }
}
