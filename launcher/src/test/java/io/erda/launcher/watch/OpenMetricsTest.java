package io.erda.launcher.watch;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.erda.server.ErdaServer;
import io.erda.server.ServerOptions;
import io.erda.server.figures.FigureCatalogue;
import io.erda.server.figures.OpenMetrics;
import io.erda.server.figures.StatsFigure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The text has the format of OpenMetrics, and the dashboard queries metrics that it contains. */
class OpenMetricsTest {
  private static final Pattern METADATA =
      Pattern.compile("# (TYPE|UNIT|HELP) ([a-z][a-z0-9_]*) (.+)");
  private static final Pattern SAMPLE =
      Pattern.compile(
          "([a-z][a-z0-9_]*)(?:\\{([a-z]+=\"(?:[^\"\\\\]|\\\\[\\\\n\"])*\",?)+\\})?"
              + " [0-9]+(\\.[0-9]+)?");
  private static final Path DASHBOARD = Path.of("..", "docs", "grafana-dashboard.json");

  @Test
  void unitsLabelsAndTextsHaveTheirForms() {
    Map<String, Long> told = new LinkedHashMap<>();
    told.put("puts", 7L);
    told.put("log.bytes.used", 12L);
    told.put("server.uptime.ns", 1_500_000_000L);
    told.put("table.load.percent", 7L);
    told.put("table.entries", -1L);
    told.put("region.0.3.live.permille", 250L);
    told.put("region.0.4.live.permille", 1000L);
    told.put("requests.answered.put.ok", 9L);
    told.put("store.readonly.reason=a \"b\"\n\\c = d", 1L);
    told.put("of.a.newer.server", 1L);
    String text = OpenMetrics.text(told);
    List<String> samples = text.lines().filter(line -> !line.startsWith("# ")).toList();
    assertEquals(
        List.of(
            "erda_store_readonly_reason_info{reason=\"a \\\"b\\\"\\n\\\\c = d\"} 1",
            "erda_server_uptime_seconds 1.500000000",
            "erda_requests_answered_total{kind=\"put\",result=\"ok\"} 9",
            "erda_puts_total 7",
            "erda_table_load_ratio 0.07",
            "erda_log_used_bytes 12",
            "erda_region_live_ratio{head=\"0\",region=\"3\"} 0.250",
            "erda_region_live_ratio{head=\"0\",region=\"4\"} 1.000"),
        samples);
    assertTrue(
        text.contains("# TYPE erda_puts counter\n# HELP erda_puts puts that were published"), text);
    assertTrue(
        text.contains("# TYPE erda_log_used_bytes gauge\n# UNIT erda_log_used_bytes bytes\n"),
        text);
    assertTrue(text.contains("# TYPE erda_store_readonly_reason info\n"), text);
    assertTrue(text.endsWith("# EOF\n"), text);
  }

  @Test
  void noTwoFiguresHaveOneName() {
    Map<String, StatsFigure> names = new HashMap<>();
    for (StatsFigure figure : FigureCatalogue.all()) {
      List<String> both = List.of(OpenMetrics.family(figure), OpenMetrics.sampleName(figure));
      for (String name : new HashSet<>(both)) {
        StatsFigure other = names.put(name, figure);
        assertTrue(other == null, () -> name + " is of " + figure + " and " + other);
      }
    }
  }

  @Test
  void whatAServerTellsIsWellFormed(@TempDir Path directory) throws Exception {
    ServerOptions options =
        ServerOptions.DEFAULTS.withCapacityBytes(16 << 20).withBuckets(256).withCounted(true);
    String text;
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), options)) {
      text = OpenMetrics.text(server.figures(Duration.ofSeconds(20)));
    }
    Set<String> families = new HashSet<>();
    Set<String> samples = new HashSet<>();
    String family = null;
    List<String> lines = text.lines().toList();
    assertEquals("# EOF", lines.getLast());
    for (String line : lines.subList(0, lines.size() - 1)) {
      Matcher metadata = METADATA.matcher(line);
      if (metadata.matches()) {
        if (metadata.group(1).equals("TYPE")) {
          family = metadata.group(2);
          assertTrue(families.add(family), "two families " + family);
        }
        assertEquals(family, metadata.group(2), line);
        if (metadata.group(1).equals("UNIT")) {
          assertTrue(family.endsWith("_" + metadata.group(3)), line);
        }
      } else {
        Matcher sample = SAMPLE.matcher(line);
        assertTrue(sample.matches(), line);
        assertTrue(sample.group(1).startsWith(family), line + " in family " + family);
        assertTrue(samples.add(line.substring(0, line.lastIndexOf(' '))), "twice: " + line);
      }
    }
    assertTrue(families.size() > 60, text);
  }

  @Test
  void theDashboardAsksForWhatThereIs() throws Exception {
    JsonNode dashboard = new ObjectMapper().readTree(Files.readString(DASHBOARD, UTF_8));
    Set<String> known = new HashSet<>();
    FigureCatalogue.all().forEach(figure -> known.add(OpenMetrics.sampleName(figure)));
    int queries = 0;
    for (JsonNode expression : dashboard.findValues("expr")) {
      Matcher name = Pattern.compile("erda_[a-z0-9_]+").matcher(expression.asText());
      while (name.find()) {
        assertTrue(known.contains(name.group()), name.group() + " in " + expression);
        queries++;
      }
    }
    assertTrue(queries > 10, "the dashboard has " + queries + " names");
  }
}
