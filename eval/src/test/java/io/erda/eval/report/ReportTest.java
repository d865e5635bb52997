package io.erda.eval.report;

import static io.erda.eval.report.Figure.bytes;
import static io.erda.eval.report.Figure.count;
import static io.erda.eval.report.Figure.ns;
import static io.erda.eval.report.Figure.perSecond;
import static io.erda.eval.report.Figure.ratio;
import static io.erda.eval.report.Figure.share;
import static io.erda.eval.report.Figure.words;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.eval.plot.BarPlot;
import io.erda.eval.plot.LinePlot;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A figure is named once, and table, CSV, JSON, plot and verdict come from that. */
class ReportTest {
  private final Report report = new Report(false);
  private final Report quickReport = new Report(true);

  private static Figures row(Figure... figures) {
    Figures table = new Figures("objects", "store");
    table.row(100_000, "Erda").add(figures);
    return table;
  }

  @Test
  void aFigureThatMissesItsGoalIsTold() {
    report.add(row(ns("get", 812), ratio("get / floor", 1.42).atMost(1.3)));
    assertEquals(List.of("100,000, Erda: get / floor is 1.42, must be ≤ 1.30"), report.missed());
    assertEquals(List.of(), report.unjudged());
  }

  @Test
  void eachBoundIsMetUpToItsLimit() {
    report.add(
        row(
            ratio("a", 2).atMost(2),
            ratio("b", 2).atLeast(2),
            ratio("c", 1.99).under(2),
            ratio("d", 2.01).over(2)));
    assertEquals(List.of(), report.missed());
    Report strict = new Report(false).add(row(ratio("a", 2).under(2), ratio("b", 2).over(2)));
    assertEquals(2, strict.missed().size(), strict.missed()::toString);
  }

  @Test
  void whatRoundingHidesIsSaidExactly() {
    report.add(row(ratio("get / floor", 1.3004).atMost(1.3)));
    assertEquals(
        List.of("100,000, Erda: get / floor is 1.30, exactly 1.3004, must be ≤ 1.30"),
        report.missed());
  }

  @Test
  void theMedianIsJudged() {
    report.add(row(ratio("a", 0.5, 9, 1).atMost(1), ratio("b", 0.5, 1.1, 9).atMost(1)));
    assertEquals(1, report.missed().size(), report.missed()::toString);
    assertTrue(report.missed().getFirst().startsWith("100,000, Erda: b is 1.10 (0.50…9.00)"));
  }

  @Test
  void aRowThatIsAddedLaterIsJudgedToo() {
    Figures table = new Figures("store");
    report.add(table);
    table.row("Erda").add(ratio("a", 2).atMost(1));
    assertEquals(1, report.missed().size());
  }

  @Test
  void aQuickRunJudgesOnlyWhatItCanTell() {
    quickReport.add(
        row(
            ratio("slow", 2).atMost(1),
            ratio("quick", 0.5).atMost(1),
            bytes("stored", 2_000).atMost(1_000).atAnySize()));
    assertEquals(
        List.of("100,000, Erda: stored is 2,000 B, must be ≤ 1,000 B"), quickReport.missed());
    assertEquals(
        List.of("a quick run can't tell: 100,000, Erda: slow; 100,000, Erda: quick"),
        quickReport.unjudged());
  }

  @Test
  void manyGoalsThatAQuickRunCannotTellAreCounted() {
    quickReport.add(
        row(
            ratio("a", 1).atMost(1),
            ratio("b", 1).atMost(1),
            ratio("c", 1).atMost(1),
            ratio("d", 1).atMost(1)));
    assertEquals(List.of("a quick run can't tell: 4 goals"), quickReport.unjudged());
  }

  @Test
  void whatWasNotMeasuredIsNeitherMetNorMissed() {
    report.add(row(ratio("beside Redis", Double.NaN).atMost(1), ratio("other", Double.NaN)));
    assertEquals(List.of(), report.missed());
    assertEquals(List.of("100,000, Erda: beside Redis: not measured"), report.unjudged());
    assertFalse(report.json().at("/100000/Erda").has("besideRedisRatio"));
  }

  @Test
  void whatIsNoFigureCanBeMissed() {
    quickReport.miss("3 operations failed");
    assertEquals(List.of("3 operations failed"), quickReport.missed());
  }

  @Test
  void programsFindEachFigureByItsNameAndUnit() {
    report
        .given("valueBytes", 1024)
        .add(
            row(
                ns("get", 100, 300, 200),
                share("server CPU", 0.25),
                perSecond("puts", 5e5),
                words("survives", "a kill")));
    assertEquals(
        "{\"valueBytes\":1024,\"100000\":{\"Erda\":{\"getNs\":200,\"getNsRounds\":[100,300,200],"
            + "\"serverCpuShare\":0.25,\"putsPerSecond\":500000,\"survives\":\"a kill\"}}}",
        report.json().toString());
  }

  @Test
  void eachUnitIsWrittenAsPeopleReadIt() {
    assertEquals("1/60", ratio("a", 1 / 60.0).text());
    assertEquals("1/59", ratio("a", 1 / 59.9).text());
    assertEquals("0.50", ratio("a", 0.5).text());
    assertEquals("0.00", ratio("a", 0).text());
    assertEquals("∞", ratio("a", Double.POSITIVE_INFINITY).text());
    assertEquals("-1.5 µs", ns("a", -1_500).text());
    assertEquals("0.250%", share("a", 0.0025).text());
    assertEquals("25.0%", share("a", 0.25).text());
    assertEquals("12 MB", bytes("a", 12e6).text());
  }

  @Test
  void namesForProgramsAreWordsWithTheUnitLast() {
    assertEquals("serverCpuOpNs", ns("server CPU/op", 1).jsonName());
    assertEquals("putsPerSecond", perSecond("puts", 1).jsonName());
    assertEquals("ratio", ratio("ratio", 1).jsonName());
    assertEquals("p999Ns", ns("p99.9", 1).jsonName());
  }

  @Test
  void aTableMayHaveAnObjectOfItsOwn() {
    report.add("goals", Figures.list("goal").add(ratio("get / floor", 1.25).atMost(2)));
    assertEquals("{\"goals\":{\"getFloorRatio\":1.25}}", report.json().toString());
  }

  @Test
  void peopleSeeRangesAndGoals() {
    Figures table = row(ns("get", 100, 300, 200), ratio("get / floor", 1 / 60.0).atMost(1.3));
    table.row(2, "Redis").add(ns("get", 70_000));
    assertEquals(
        """
        objects  store                     get  get / floor  must be
        100,000   Erda  200 ns (100 ns…300 ns)         1/60   ≤ 1.30
        2        Redis                 70.0 µs
        """,
        table.text());
  }

  @Test
  void aListHasARowForEachFigure() {
    Figures list = Figures.list("growth").add(count("objects", 5), ns("pause", 50).atMost(60));
    assertEquals(
        """
        growth          must be
        objects      5
        pause    50 ns  ≤ 60 ns
        """,
        list.text());
    assertEquals(
        "\"growth\",\"name\",\"value\"\r\n\"objects\",\"objects\",\"5.0\"\r\n"
            + "\"pause\",\"pauseNs\",\"50.0\"\r\n",
        list.extract().content());
  }

  @Test
  void spreadsheetsGetPlainNumbersBelowTheNamesOfJson() {
    Figures table = row(ns("get", 1_500), words("survives", "a \"kill\""));
    table.row(2, "Redis").add(ns("get", Double.NaN));
    assertEquals(
        "\"objects\",\"store\",\"getNs\",\"survives\"\r\n"
            + "\"100000\",\"Erda\",\"1500.0\",\"a \"\"kill\"\"\"\r\n"
            + "\"2\",\"Redis\",\"\",\"\"\r\n",
        table.extract().content());
  }

  @Test
  void aSeriesAlongAnAxisIsTableJsonAndCurve() {
    Figures table = new Figures("load", "scheme").along("mean", Unit.NS, "bytes", 16, 1024);
    table.row("YCSB-C", "Erda").values(500, 2_000).add(ratio("in the paper", 0.5));
    table.row("YCSB-C", "Redo").values(900, Double.NaN);
    table.row("YCSB-A", "Erda").values(1, 1);
    assertTrue(table.text().contains("16 bytes   1,024  in the paper\n"), table.text());
    assertTrue(table.text().contains("900 ns       –"), table.text());
    assertEquals(
        "{\"bytes\":[16,1024],\"YCSB-C\":{\"Erda\":{\"meanNs\":[500,2000],"
            + "\"inThePaperRatio\":0.5},\"Redo\":{\"meanNs\":[900,null]}},"
            + "\"YCSB-A\":{\"Erda\":{\"meanNs\":[1,1]}}}",
        report.add(table).json().toString());
    String svg = LinePlot.of("Mean latency", table).svg();
    assertEquals(5, svg.split("h0", -1).length - 1, svg);
    assertTrue(svg.contains("µs") && svg.contains("YCSB-A"), svg);
  }

  @Test
  void aSeriesOfRoundsHasMediansAndTheirRanges() {
    Figures table = new Figures("load", "scheme").along("mean", Unit.NS, "bytes", 16, 1024);
    table.row("YCSB-C", "Erda").rounds(new double[] {500, 400, 600}, new double[] {2e3, 1e3, 4e3});
    table.row("YCSB-C", "Redo").rounds(new double[] {Double.NaN}, new double[] {900, 800, 800});
    assertEquals(
        """
        load    scheme  16 bytes   1,024  widest range
        YCSB-C    Erda    500 ns  2.0 µs        150.0%
        YCSB-C    Redo         –  800 ns         12.5%
        """,
        table.text());
    assertEquals(
        "{\"bytes\":[16,1024],\"YCSB-C\":{\"Erda\":{\"meanNs\":[500,2000],"
            + "\"meanNsRounds\":[[500,400,600],[2000,1000,4000]],\"widestRangeShare\":1.5},"
            + "\"Redo\":{\"meanNs\":[null,800],"
            + "\"meanNsRounds\":[[null],[900,800,800]],\"widestRangeShare\":0.125}}}",
        report.add(table).json().toString());
    Figures.Curve curve = table.curves().getFirst();
    assertArrayEquals(new double[] {0.4, 1}, curve.min());
    assertArrayEquals(new double[] {0.5, 2}, curve.values());
    assertArrayEquals(new double[] {0.6, 4}, curve.max());
  }

  @Test
  void aSeriesOfOneRoundHasNoRange() {
    Figures table = new Figures("scheme").along("mean", Unit.NS, "bytes", 16);
    table.row("Erda").rounds(new double[] {500});
    assertEquals(
        "{\"bytes\":[16],\"Erda\":{\"meanNs\":[500]}}", report.add(table).json().toString());
    assertFalse(table.text().contains("range"), table::text);
  }

  @Test
  void aHeadlineHasTheVerdictOfItsFigures() {
    Figure good = ratio("good", 1, 3).atMost(2);
    Figure bad = ratio("bad", 3).atMost(2);
    Figure lost = ratio("lost", Double.NaN).atMost(2);
    Figure free = ratio("free", 3);
    for (Report each : List.of(report, quickReport)) {
      each.headline("one", good)
          .headline("two", good, bad)
          .headline("unmeasured", good, lost)
          .headline("free", free);
    }
    assertEquals(
        List.of(
            new Headline("one", "2.00", "≤ 2.00", Outcome.MET),
            new Headline("two", "2.00, 3.00", "≤ 2.00", Outcome.MISSED),
            new Headline("unmeasured", "2.00, –", "≤ 2.00", Outcome.NOT_JUDGED),
            new Headline("free", "3.00", "", Outcome.NO_GOAL)),
        report.headlines());
    assertEquals(
        List.of(Outcome.NOT_JUDGED, Outcome.NOT_JUDGED, Outcome.NOT_JUDGED, Outcome.NO_GOAL),
        quickReport.headlines().stream().map(Headline::outcome).toList());
    assertEquals(List.of(), report.missed(), "a table judges them");
  }

  @Test
  void whatAPaperHasStandsBesideItForPeopleOnly() {
    Figures theirs = new Figures("figure");
    theirs.row(14).add(ratio("Erda < others", 0.5));
    report.add(row(ratio("Erda", 0.4))).add(new InThePaper("Figure 14 has < this.", theirs));
    assertTrue(
        report.text().contains("Figure 14 has < this.\nfigure  Erda < others\n"), report::text);
    String html = report.parts().getLast().html();
    assertTrue(html.startsWith("<aside class=\"paper\">\n<p>Figure 14 has &lt; this.</p>\n"), html);
    assertTrue(html.contains("<td>0.50</td>"), html);
    assertEquals("{\"100000\":{\"Erda\":{\"erdaRatio\":0.4}}}", report.json().toString());
  }

  @Test
  void barsAreInThePlotsUnit() {
    Figures table = row(ns("get", 1_000, 3_000, 2_000), ratio("not drawn", 1));
    String svg = BarPlot.of("Peers", table, Unit.NS).svg();
    assertTrue(svg.contains("2.00 µs") && svg.contains("Erda"), svg);
    assertFalse(svg.contains("not drawn"), svg);
  }

  @Test
  void mistakesOfAnExperimentAreSaid() {
    assertThrows(IllegalArgumentException.class, () -> row(ns("get", 1), ns("get", 2)));
    assertThrows(IllegalArgumentException.class, () -> new Figures("a").row("one", "two"));
    assertThrows(IllegalArgumentException.class, () -> ns("nothing"));
  }
}
