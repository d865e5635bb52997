package io.erda.eval.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.eval.plot.LinePlot;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportDirectoryTest {
  @TempDir Path parent;

  @Test
  void aPageHasAllThatWasToldAndItsPartsLieBesideIt() throws Exception {
    Path directory = parent.resolve("new/report");
    ReportDirectory report =
        new ReportDirectory(directory, "What it is.", Map.of("processor", "slow & <old>"));
    assertTrue(Files.readString(report.page()).contains("slow &amp; &lt;old&gt;"));

    Table table = new Table("what", "µs").row("get, \"first\"", "1.5").row("a < b", "2");
    LinePlot plot =
        new LinePlot("times", "s", "µs").panel("").curve("a", new double[] {1}, new double[] {2});
    ObjectNode json = new ObjectMapper().createObjectNode().put("getNs", 1500);
    report.add(
        new Page.Section(
            "floor",
            "gets beside the least",
            "./erda eval run floor",
            List.of(new Words("Read this."), table, plot),
            List.of("too slow")),
        json);
    report.add(
        new Page.Section("redis", "beside Redis", "./erda eval run redis", List.of(), List.of()),
        json);

    String page = Files.readString(directory.resolve("index.html"));
    for (String part :
        List.of(
            "<p>Read this.</p>",
            "<td class=\"words\">a &lt; b</td>",
            "<td>1.5</td>",
            plot.svg(),
            "<li>too slow</li>",
            "<a href=\"#floor\">",
            "<h2 id=\"redis\">",
            "missed in part",
            ">shown<")) {
      assertTrue(page.contains(part), part);
    }
    assertFalse(page.contains("src=") || page.contains("@import"), "the page needs nothing else");
    assertEquals(
        "\"what\",\"µs\"\r\n\"get, \"\"first\"\"\",\"1.5\"\r\n\"a < b\",\"2\"\r\n",
        Files.readString(directory.resolve("floor-1.csv")));
    assertEquals(plot.svg(), Files.readString(directory.resolve("floor-2.svg")));
    JsonNode results = new ObjectMapper().readTree(directory.resolve("results.json").toFile());
    assertEquals(1500, results.at("/floor/getNs").asInt());
    assertEquals("too slow", results.at("/floor/missed/0").asText());
    assertEquals("slow & <old>", results.at("/machine/processor").asText());
  }

  @Test
  void theMachineIsDescribed() throws Exception {
    Map<String, String> machine = Machine.describe(parent);
    assertTrue(machine.get("processor").endsWith(" cores for us"), machine::toString);
    assertTrue(machine.get("memory").endsWith("kB"), machine::toString);
    assertFalse(machine.get("file system of stores").isEmpty());
  }
}
