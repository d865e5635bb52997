package io.erda.eval.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.eval.Experiment.Context;
import io.erda.eval.load.LoadResult;
import io.erda.eval.load.Percentiles;
import io.erda.eval.peers.process.PeerLibraries;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.report.Report;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the report about a system with failures. */
class YcsbReportTest {
  private static final Percentiles TIMES = new Percentiles(20_000, 500, 900, 2_000, 70_000_000);
  private static final Percentiles FEW = new Percentiles(100, 500, 900, 2_000, 70_000_000);

  private final YcsbFigures figures = new YcsbFigures();
  private final Survival survival = new Survival();

  private static LoadResult result(long operations, long errors, Percentiles times) {
    return new LoadResult(operations, errors, 0, 1_000_000_000, times, times);
  }

  private void measured(PeerSystem system, LoadResult paced) {
    figures.add(system, YcsbFigures.LOAD, result(50_000, 0, TIMES));
    YcsbExperiment.WORKLOADS.forEach(
        workload -> figures.add(system, workload, result(1_234_000, 0, TIMES)));
    figures.add(system, YcsbFigures.PACED, paced);
  }

  private Report report(PeerSystem system) {
    Context context = new Context(null, null, null, null, 0, false);
    PeerLibraries none = PeerLibraries.listed(Path.of("none"));
    return new YcsbReport(
            new Stage(context, none, PeerSizes.FULL), List.of(system), figures, survival)
        .report();
  }

  /** A row, with one space between its cells. */
  private static String rowOf(PeerSystem system, Report report, int table) {
    return report
        .text()
        .lines()
        .filter(line -> line.startsWith(system.title().substring(0, 5)))
        .toList()
        .get(table)
        .replaceAll(" +", " ");
  }

  @Test
  void aSystemThatDidWellMissesNothing() {
    measured(PeerSystem.REDIS, result(10_000, 0, TIMES));
    survival.add(PeerSystem.REDIS, "nothing", "object 0 is not there");
    Report report = report(PeerSystem.REDIS);
    assertEquals(List.of(), report.missed());
    String first = rowOf(PeerSystem.REDIS, report, 0);
    assertTrue(first.contains(" 50,000/s 1,234,000/s 1,234,000/s 1,234,000/s "), first);
    assertTrue(first.endsWith("not a kill -9"), first);
    String second = rowOf(PeerSystem.REDIS, report, 1);
    assertTrue(second.contains(" 500 ns 900 ns 2.0 µs 70.0 ms 500"), second);
    assertFalse(report.text().contains("did not keep"), report::text);
  }

  @Test
  void whoIsTooSlowForTheRateIsNamed() {
    measured(PeerSystem.REDIS, result(9_800, 0, FEW));
    survival.add(PeerSystem.REDIS, "nothing", "");
    Report report = report(PeerSystem.REDIS);
    String text = report.text();
    assertTrue(text.contains("no file did not keep the rate, but 9,800 operations"), text);
    String second = rowOf(PeerSystem.REDIS, report, 1);
    assertTrue(
        second.contains(" – 70.0 ms 500 ns"), "of a hundred no slowest in a thousand: " + second);
  }

  @Test
  void failedOperationsAndLostPutsOfErdaAreMisses() {
    measured(PeerSystem.ERDA_SHM, result(10_000, 3, TIMES));
    survival.add(PeerSystem.ERDA_SHM, "a kill", "object 7 is not there");
    assertEquals(
        List.of(
            "Erda over shm, server process: failed is 3, must be ≤ 0",
            "Erda over shm, server process lost puts in a kill: object 7 is not there"),
        report(PeerSystem.ERDA_SHM).missed());
  }
}
