package io.erda.launcher.commands;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.cleaner.Phase;
import io.erda.client.ErdaClient;
import io.erda.console.Numbers;
import io.erda.console.TextTable;
import io.erda.server.figures.FigureCatalogue;
import io.erda.server.figures.StatsFigure;
import io.erda.server.figures.StatsFigure.Unit;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
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
          + " writers, mark, measure, merge, replicate. docs/stats.md says what each figure means."
    })
public final class StatsCommand implements Callable<Integer> {
  private static final Pattern LIVE = Pattern.compile("region\\.(\\d+)\\.(\\d+)\\.live\\.permille");
  private static final Pattern LEAVING =
      Pattern.compile("leaving\\.(\\d+)\\.(\\d+)\\.(\\d+)\\.client\\.(\\d+)\\.pid");

  @Spec private CommandSpec spec;
  @Mixin private ConnectionOptions connection;

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
        int text = textAt(name);
        if (text >= 0) {
          node.put(name.substring(0, text), name.substring(text + 1));
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

  private static TextTable figures(Map<String, Long> figures) {
    TextTable table = new TextTable("figure", "value", "unit");
    Map<String, Integer> places = places(figures.keySet());
    Map<String, Long> sorted = new LinkedHashMap<>();
    figures.keySet().stream()
        .sorted(Comparator.comparingInt(places::get))
        .forEach(name -> sorted.put(name, figures.get(name)));
    sorted.forEach((name, value) -> {
      int text = textAt(name);
      if (name.equals("cleaner.phase")) {
        table.row(name, phase(value), "");
      } else if (text >= 0) {
        table.row(name.substring(0, text), name.substring(text + 1), "");
      } else if (!LIVE.matcher(name).matches() && !LEAVING.matcher(name).matches()) {
        table.row(name, Numbers.count(value), unit(name));
      }
    });
    return table;
  }

  /** The position of each name in the output; names that only a newer server tells come last. */
  private static Map<String, Integer> places(Set<String> names) {
    List<StatsFigure> all = FigureCatalogue.all();
    Map<String, Integer> places = new HashMap<>();
    for (String name : names) {
      int place = all.indexOf(FigureCatalogue.find(name));
      places.put(name, place < 0 ? Integer.MAX_VALUE : place);
    }
    return places;
  }

  /** Where the text in a figure's name begins, at its {@code =}; −1 when the figure is a number. */
  private static int textAt(String name) {
    return name.indexOf('=');
  }

  private static String unit(String name) {
    StatsFigure figure = FigureCatalogue.find(name);
    return figure == null || figure.unit() == Unit.NUMBER ? "" : figure.unit().symbol();
  }

  private static String phase(long ordinal) {
    Phase[] phases = Phase.values();
    return ordinal >= 0 && ordinal < phases.length
        ? phases[(int) ordinal].name().toLowerCase(Locale.ROOT)
        : Long.toString(ordinal);
  }

  /**
   * Tables of the live share of each region, and of the clients that have not left a region, if
   * there are any.
   */
  private static List<TextTable> regions(Map<String, Long> figures) {
    TextTable live = new TextTable("region", "live", "");
    TextTable leaving =
        new TextTable("region that waits for a client to leave", "client", "process");
    List<TextTable> tables = new ArrayList<>();
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

  private static void add(List<TextTable> tables, TextTable table) {
    if (!tables.contains(table)) {
      tables.add(table);
    }
  }
}
