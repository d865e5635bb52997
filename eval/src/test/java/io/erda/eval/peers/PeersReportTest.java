package io.erda.eval.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.eval.Experiment.Context;
import io.erda.eval.peers.process.PeerLibraries;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.report.Page;
import io.erda.eval.report.Report;
import io.erda.eval.report.ReportDirectory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A goal is met, missed, or not judged. */
class PeersReportTest {
  /** Figures in which Erda is as quick as the others, and Redis and Chronicle Map were measured. */
  private static PeerFigures figures(PeerSystem... beside) {
    PeerFigures figures = new PeerFigures();
    for (Column column : Column.values()) {
      figures.add(column, PeerSystem.ERDA_SHM, 100);
      figures.add(column, PeerSystem.ERDA_EMBEDDED, 100);
      for (PeerSystem system : beside) {
        figures.add(column, system, 100);
      }
    }
    return figures;
  }

  private static Report report(boolean quick, PeerSystem... beside) {
    Context context = new Context(null, null, null, null, 0, quick);
    Stage stage =
        new Stage(
            context,
            PeerLibraries.listed(Path.of("none")),
            quick ? PeerSizes.QUICK : PeerSizes.FULL);
    Survival survival = new Survival();
    stage.systems().forEach(system -> survival.add(system, "a kill", ""));
    return PeersExperiment.report(stage, figures(beside), survival);
  }

  @Test
  void aQuickRunJudgesNoGoalAndMissesNone() {
    Report report = report(true, PeerSystem.CHRONICLE_MAP, PeerSystem.REDIS);
    assertEquals(List.of(), report.missed());
    assertEquals(
        List.of("a quick run can't tell: " + PeerGoal.ALL.size() + " goals"), report.unjudged());
  }

  @Test
  void aFullRunJudgesWhatWasMeasured() {
    Report all = report(false, PeerSystem.CHRONICLE_MAP, PeerSystem.REDIS);
    assertEquals(List.of(), all.unjudged());
    assertTrue(all.missed().size() > 1, all.missed()::toString);
    Report some = report(false, PeerSystem.CHRONICLE_MAP);
    assertEquals(1, some.unjudged().size(), some.unjudged()::toString);
    assertTrue(some.unjudged().getFirst().endsWith(": not measured"), some.unjudged()::toString);
  }

  /** Gets and puts of 1 KiB beside Chronicle Map and Redis, with their verdicts, and a picture. */
  @Test
  void aPageBeginsWithItsFigures(@TempDir Path directory) throws Exception {
    ReportDirectory page = new ReportDirectory(directory, "What it is.", Map.of());
    Report full = report(false, PeerSystem.CHRONICLE_MAP, PeerSystem.REDIS);
    page.add(new Page.Section("peers", "it stands beside others", "run", false, full));
    String html = Files.readString(page.page());
    String head = html.substring(0, html.indexOf("<section>"));
    assertEquals(5, head.split("<a href=\"#peers\">(get|put) 1 KiB", -1).length - 1, head);
    assertTrue(
        head.contains(
            "Chronicle Map, persisted</a></td><td>1.00</td><td>≤ 1.00</td>"
                + "<td><span class=\"met\">met</span>"),
        head);
    assertTrue(head.contains("<td>≤ 1/60</td><td><span class=\"missed\">missed</span>"), head);
    assertEquals(1, head.split("<svg", -1).length - 1);
  }
}
