package io.erda.eval.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.erda.eval.plot.DotPlot;
import io.erda.eval.plot.LinePlot;
import java.io.IOException;
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

    Figures table = new Figures("what");
    table.row("get, \"first\"").add(Figure.ns("it", 1500));
    table.row("a < b").add(Figure.ns("it", 2));
    LinePlot plot =
        new LinePlot("times", "s", "µs").panel("").curve("a", new double[] {1}, new double[] {2});
    Report floor = new Report(false).words("Read this.").add(table).add(plot).given("getNs", 1500);
    report.add(
        new Page.Section(
            "floor",
            "gets beside the least",
            "./erda eval run floor",
            true,
            floor.miss("too slow")));
    report.add(
        new Page.Section(
            "redis", "beside Redis", "./erda eval run redis", false, new Report(false)));

    String page = Files.readString(directory.resolve("index.html"));
    for (String part :
        List.of(
            "<p>Read this.</p>",
            "<td class=\"words\">a &lt; b</td>",
            "<td>1.5 µs</td>",
            plot.svg(),
            "<li>too slow</li>",
            "<a href=\"#floor\">",
            "<h3 id=\"floor\">floor: <span><span class=\"missed\">1 goal missed</span>, in a quick"
                + " run<",
            "<h3 id=\"redis\">redis: <span><span class=\"met\">met</span></span></h3>\n"
                + "<p>Beside Redis.",
            "don't believe its numbers")) {
      assertTrue(page.contains(part), part);
    }
    assertEquals(
        page.split("<table>", -1).length,
        page.split("<div class=\"table( short)?\"><table>", -1).length,
        "each table scrolls by itself where it is wider than a phone");
    for (String foreign : List.of("src=", "@import", "url(", "<script", "<link")) {
      assertFalse(page.contains(foreign), "the page needs nothing else: " + foreign);
    }
    assertEquals(
        "\"what\",\"itNs\"\r\n\"get, \"\"first\"\"\",\"1500.0\"\r\n\"a < b\",\"2.0\"\r\n",
        Files.readString(directory.resolve("floor-1.csv")));
    assertEquals(plot.svg(), Files.readString(directory.resolve("floor-2.svg")));
    JsonNode results = new ObjectMapper().readTree(directory.resolve("results.json").toFile());
    assertEquals(1500, results.at("/floor/getNs").asInt());
    assertEquals("too slow", results.at("/floor/missed/0").asText());
    assertEquals("slow & <old>", results.at("/floor/machine/processor").asText());
  }

  @Test
  void aLaterRunReplacesItsOwnSectionsAndLeavesTheRest() throws Exception {
    Path directory = parent.resolve("report");
    ReportDirectory before =
        new ReportDirectory(
            directory, "What it is.", Map.of(Machine.WHEN, "yesterday", "processor", "old"));
    before.add(section("floor", 1, "first floor", "too <slow>"));
    before.add(section("redis", 1, "first redis"));

    ReportDirectory after =
        new ReportDirectory(
            directory, "What it is.", Map.of(Machine.WHEN, "today", "processor", "new"));
    after.add(section("redis", 2, "second redis"));
    after.add(section("cpu", 2, "second cpu"));

    String page = Files.readString(after.page());
    assertTrue(page.contains("first floor"));
    assertTrue(page.contains("too &lt;slow&gt;"));
    assertFalse(page.contains("first redis"));
    assertTrue(page.indexOf("first floor") < page.indexOf("second redis"));
    assertTrue(page.indexOf("second redis") < page.indexOf("second cpu"));
    assertTrue(page.contains("run floor</code>, in a run of yesterday, with processor: old.</p>"));
    assertTrue(page.contains("run cpu</code>, in a run of today.</p>"));
    JsonNode results = new ObjectMapper().readTree(directory.resolve("results.json").toFile());
    assertEquals(1, results.at("/floor/run").asInt());
    assertEquals(2, results.at("/redis/run").asInt());
    assertEquals("old", results.at("/floor/machine/processor").asText());
    assertEquals("new", results.at("/redis/machine/processor").asText());
  }

  @Test
  void filesOfPartsThatAreNotToldAnyMoreAreRemoved() throws Exception {
    Path directory = parent.resolve("report");
    ReportDirectory report = new ReportDirectory(directory, "What it is.", Map.of());
    Figures table = Figures.list("what").add(Figure.ns("get", 1.5));
    Path other = directory.resolve("floor-2.txt");
    Report two = new Report(false).add(table).add("again", Figures.list("what"));
    report.add(new Page.Section("floor", "what", "run", false, two));
    Files.writeString(other, "mine");
    report.add(new Page.Section("floor", "what", "run", false, new Report(false).add(table)));
    assertTrue(Files.exists(directory.resolve("floor-1.csv")));
    assertFalse(Files.exists(directory.resolve("floor-2.csv")));
    assertTrue(Files.exists(other));
  }

  private static Page.Section section(String name, int run, String words, String... missed) {
    Report report = new Report(false).words(words).given("run", run);
    List.of(missed).forEach(report::miss);
    return new Page.Section(name, "what", "./erda eval run " + name, false, report);
  }

  /** A goal is met, missed or not judged, and a page distinguishes these, also a later page. */
  @Test
  void whatWasNotJudgedIsNotShown() throws Exception {
    Path directory = parent.resolve("report");
    ReportDirectory report = new ReportDirectory(directory, "What it is.", Map.of());
    Figures table = Figures.list("goal").add(Figure.ratio("gets < puts", 1).atMost(1));
    report.add(new Page.Section("peers", "what", "run", true, new Report(true).add(table)));
    ReportDirectory later = new ReportDirectory(directory, "What it is.", Map.of());
    for (ReportDirectory each : List.of(report, later)) {
      String page = Files.readString(each.page());
      assertFalse(page.contains(">met</span>"), page);
      assertTrue(page.contains("class=\"not-judged\">not judged</span>, in a quick run"), page);
      assertTrue(page.contains("<h4>Not judged</h4>"), page);
      assertTrue(page.contains("<li>a quick run can't tell: gets &lt; puts</li>"), page);
    }
    JsonNode results = new ObjectMapper().readTree(directory.resolve("results.json").toFile());
    assertEquals("a quick run can't tell: gets < puts", results.at("/peers/unjudged/0").asText());
    assertTrue(results.at("/peers/missed").isEmpty());
  }

  /** A reader sees the summary, and of each experiment a sentence and its verdict. */
  @Test
  void whatAnExperimentTellsIsFoldedBelowItsVerdict() throws Exception {
    ReportDirectory report =
        new ReportDirectory(
            parent.resolve("report"),
            "What it is.",
            Map.of(Machine.WHEN, "today", "processor", "one"));
    Figures table = new Figures("objects");
    Figure good = Figure.ratio("get / floor", 1, 1.2, 1.4).atMost(1.3);
    Figure bad = Figure.ratio("put / floor", 9).atMost(1.3);
    table.row(5).add(good, bad);
    report.add(
        new Page.Section(
            "floor",
            "a get takes < 1.3 times the floor",
            "./erda eval run floor",
            false,
            new Report(false)
                .words("Some note.")
                .add(table)
                .headline("a get & a put", good, bad)
                .headline("a get", good)));
    report.add(
        new Page.Section(
            "profile", "it is followed", "run", false, new Report(false).nothingExpected()));
    for (String page : List.of(Files.readString(report.page()), again(parent.resolve("report")))) {
      String seen =
          page.replaceAll("(?s)<details>.*?</details>", "").replaceAll("(?s)<style.*?/style>", "");
      for (String part :
          List.of(
              "It was measured in a run of today. The machine has processor one.",
              "<td><a href=\"#floor\">a get &amp; a put</a></td><td>1.20, 9.00</td><td>≤ 1.30</td>"
                  + "<td><span class=\"missed\">missed</span></td>",
              "<td>1.20</td><td>≤ 1.30</td><td><span class=\"met\">met</span></td>",
              "<p>A get takes &lt; 1.3 times the floor.</p>",
              "<span class=\"missed\">These miss a goal or more:</span> <a"
                  + " href=\"#floor\">floor</a>.",
              "<span class=\"no-goal\">no goal</span></span></h3>")) {
        assertTrue(seen.contains(part), part);
      }
      for (String folded :
          List.of("Some note.", "5: put / floor is 9.00, must be ≤ 1.30", "run floor")) {
        assertFalse(seen.contains(folded), folded);
        assertTrue(page.contains(folded), folded);
      }
    }
  }

  private static String again(Path directory) throws IOException {
    return Files.readString(ReportDirectory.again(directory, "What it is.").page());
  }

  /** The first of all experiments that have one, in a later page, too. */
  @Test
  void aPageBeginsWithOnePicture() throws Exception {
    Path directory = parent.resolve("report");
    ReportDirectory report = new ReportDirectory(directory, "What it is.", Map.of());
    report.add(section("cpu", 1, "no picture"));
    DotPlot first = new DotPlot("first", "µs").dot("get", "Erda", 1, 1, 2);
    DotPlot second = new DotPlot("second", "µs").dot("get", "Erda", 1, 1, 2);
    for (Map.Entry<String, DotPlot> each :
        List.of(Map.entry("peers", first), Map.entry("redis", second))) {
      report.add(
          new Page.Section(
              each.getKey(), "what", "run", false, new Report(false).picture(each.getValue())));
    }
    String page = again(directory);
    String head = page.substring(0, page.indexOf("<section>"));
    assertTrue(head.contains(first.svg()));
    assertFalse(head.contains(second.svg()));
    assertTrue(page.contains(second.svg()), "it stands where it belongs");
    assertEquals(first.svg(), Files.readString(directory.resolve("peers-1.svg")));
  }

  /**
   * A page is made again from existing files, also from those of earlier versions; nothing is lost.
   */
  @Test
  void aPageIsMadeAnew() throws Exception {
    Path directory = parent.resolve("report");
    IOException nothing =
        assertThrows(IOException.class, () -> ReportDirectory.again(directory, "What it is."));
    assertTrue(nothing.getMessage().endsWith("no run has left anything"), nothing::getMessage);
    assertFalse(Files.exists(directory));
    Files.createDirectories(directory);
    Files.writeString(
        directory.resolve("page.json"),
        """
        {"sections": [
          {"name": "floor", "what": "gets", "command": "run", "quick": false, "missed": ["slow"],
           "machine": {"when": "2", "processor": "new"}, "results": {"getNs": 5}, "html": "<p>a</p>"},
          {"name": "redis", "what": "gets", "command": "run", "quick": false, "missed": [],
           "machine": {"when": "1", "processor": "old"}, "results": {}, "html": "<p>b</p>"}]}
        """);
    String page = again(directory);
    for (String part :
        List.of(
            "It was measured in runs of 1 to 2. The machine has processor new."
                + " An experiment that ran with something else says with what.",
            "1 goal missed",
            "<p>a</p>",
            "in a run of 1, with processor: old.")) {
      assertTrue(page.contains(part), part);
    }
    assertEquals(page, again(directory));
    JsonNode results = new ObjectMapper().readTree(directory.resolve("results.json").toFile());
    assertEquals(5, results.at("/floor/getNs").asInt());
  }

  @Test
  void whatNoRunHasLeftIsNotWrittenOver() throws Exception {
    Path directory = Files.createDirectories(parent.resolve("mine"));
    for (String content :
        List.of(
            "my notes", "[]", "{\"a\": 1}", "{\"sections\": [{}]}", "{\"sections\": [1]}", "")) {
      Path mine = Files.writeString(directory.resolve("page.json"), content);
      IOException e =
          assertThrows(
              IOException.class,
              () -> new ReportDirectory(directory, "What it is.", Map.of()),
              content);
      assertTrue(e.getMessage().startsWith(mine + " is not what"), e::getMessage);
      assertEquals(content, Files.readString(mine));
    }
  }

  @Test
  void theMachineIsDescribed() throws Exception {
    Map<String, String> machine = Machine.describe(parent);
    assertTrue(machine.get("processor").endsWith(" cores for us"), machine::toString);
    assertTrue(machine.get("memory").endsWith(" GiB"), machine::toString);
    assertFalse(machine.get("file system of stores").isEmpty());
  }
}
