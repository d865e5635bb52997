package io.erda.eval.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.erda.eval.Experiment.Context;
import io.erda.eval.peers.Column.Scale;
import io.erda.eval.peers.process.PeerLibraries;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.report.Page;
import io.erda.eval.report.Report;
import io.erda.eval.report.ReportDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Goals are judged where there are enough cores, and Chronicle Map. */
class CoresReportTest {
  private final CoresFigures figures = new CoresFigures();

  @TempDir Path directory;

  private PeerLibraries chronicleMap() throws IOException {
    Path jar = directory.resolve("chronicle-map-2026.1.jar");
    return PeerLibraries.listed(
        Files.writeString(directory.resolve("list"), Files.writeString(jar, "").toString()));
  }

  private static PeerLibraries none() {
    return PeerLibraries.listed(Path.of("none"));
  }

  /** Adds operations a second of each load, three rounds that scatter. */
  private void measured(PeerSystem system, int cores, double perSecond) {
    for (Scale scale : CoresExperiment.SCALES) {
      for (CoresLoad load : CoresLoad.values()) {
        for (int threads : CoresExperiment.threadCounts(cores)) {
          double median = perSecond * threads;
          figures.add(scale, load, system, threads, median, median * 2, median / 2);
        }
      }
    }
  }

  private Report report(int cores, PeerLibraries libraries, boolean quick) {
    Context context = new Context(null, null, null, null, 0, quick);
    PeerSizes sizes = quick ? PeerSizes.THREADS_QUICK : PeerSizes.THREADS;
    return new CoresReport(new Stage(context, libraries, sizes), cores, figures).report();
  }

  @Test
  void threadsAreAsManyAsCoresAtMost() {
    assertEquals(List.of(1), CoresExperiment.threadCounts(1));
    assertEquals(List.of(1, 2), CoresExperiment.threadCounts(2));
    assertEquals(List.of(1, 2, 4, 6), CoresExperiment.threadCounts(6));
    assertEquals(List.of(1, 2, 4, 8, 12), CoresExperiment.threadCounts(12));
    assertEquals(List.of(1, 2, 4, 8, 12, 16), CoresExperiment.threadCounts(16));
    assertEquals(List.of(1, 2, 4, 8, 12, 16, 32, 48), CoresExperiment.threadCounts(48));
  }

  @Test
  void withSixteenCoresGoalsAreMetOrMissed() throws IOException {
    measured(PeerSystem.ERDA_SHM, 16, 900_000);
    measured(PeerSystem.ERDA_EMBEDDED, 16, 1_000_000);
    measured(PeerSystem.CHRONICLE_MAP, 16, 1_000_000);
    Report report = report(16, chronicleMap(), false);
    assertEquals(List.of(), report.unjudged());
    assertEquals(4, report.missed().size(), report.missed()::toString);
    assertEquals(
        "Erda over shm, server process, updates, uniform, 64 B, 1 M:"
            + " ratio is 0.90 (0.90…0.90), must be ≥ 1.00",
        report.missed().getFirst());
    assertTrue(report.text().contains("beside those of Chronicle Map, persisted, 12 threads"));
  }

  @Test
  void onFewerCoresNothingIsJudged() throws IOException {
    measured(PeerSystem.ERDA_SHM, 2, 1);
    measured(PeerSystem.ERDA_EMBEDDED, 2, 1);
    measured(PeerSystem.CHRONICLE_MAP, 2, 100);
    Report report = report(2, chronicleMap(), false);
    assertEquals(List.of(), report.missed());
    assertEquals(
        List.of("goals are judged on 16 cores or more, and this machine has 2"), report.unjudged());
    assertTrue(report.text().contains("1/100"), report::text);
  }

  @Test
  void withoutChronicleMapNothingIsJudged() {
    measured(PeerSystem.ERDA_SHM, 16, 1);
    measured(PeerSystem.ERDA_EMBEDDED, 16, 1);
    Report report = report(16, none(), false);
    assertEquals(List.of(), report.missed());
    assertEquals(1, report.unjudged().size(), report.unjudged()::toString);
    assertTrue(
        report.unjudged().getFirst().contains("chronicle-map is not here"),
        report.unjudged()::toString);
  }

  @Test
  void aQuickRunJudgesNothing() throws IOException {
    measured(PeerSystem.ERDA_SHM, 16, 1);
    measured(PeerSystem.ERDA_EMBEDDED, 16, 1);
    measured(PeerSystem.CHRONICLE_MAP, 16, 100);
    Report report = report(16, chronicleMap(), true);
    assertEquals(List.of(), report.missed());
    assertEquals(
        List.of("a quick run can't tell: " + CoresGoal.ALL.size() + " goals"), report.unjudged());
  }

  @Test
  void programsGetTheCoresAndTheMedians() {
    measured(PeerSystem.ERDA_TCP, 4, 50_000);
    JsonNode json = report(4, none(), false).json();
    assertEquals(4, json.get("cores").asInt());
    JsonNode uniform = json.get("uniform64B");
    assertEquals("[1,2,4]", uniform.get("threads").toString());
    JsonNode updates = uniform.get("updates").get("Erda over TCP");
    assertEquals("[50000,100000,200000]", updates.get("operationsPerSecond").toString());
    assertEquals(
        "[200000,400000,100000]", updates.get("operationsPerSecondRounds").get(2).toString());
    assertTrue(uniform.has("inserts"));
    assertFalse(json.get("hot1KiB").has("inserts"));
  }

  @Test
  void aPageBeginsWithAPictureOfSmallValues() throws IOException {
    measured(PeerSystem.ERDA_SHM, 2, 1_000_000);
    ReportDirectory page = new ReportDirectory(directory, "What it is.", Map.of());
    page.add(new Page.Section("cores", "threads", "run", false, report(2, none(), false)));
    String html = Files.readString(page.page());
    String head = html.substring(0, html.indexOf("<section>"));
    assertEquals(1, head.split("<svg", -1).length - 1);
    assertTrue(head.contains("Keys: uniform; values: 64 B"), head);
  }

  @Test
  void otherExperimentsHaveTheSystemsOfOneThread() {
    Stage stage = new Stage(new Context(null, null, null, null, 0, false), none(), PeerSizes.FULL);
    assertEquals(List.of(), stage.systems().stream().filter(PeerSystem::isForThreads).toList());
  }
}
