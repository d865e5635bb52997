package io.erda.eval.baselines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.eval.load.Dataset;
import org.junit.jupiter.api.Test;

class SimulatedRunTest {
  private static final int OPERATIONS = 800;
  private static final Dataset DATASET = new Dataset(200, 256);

  private static SimulatedRun.Figures figures(Scheme scheme, PaperWorkload workload, int clients) {
    return SimulatedRun.of(scheme, DATASET, workload, clients, OPERATIONS);
  }

  @Test
  void theSameRunHasTheSameFigures() {
    for (Scheme scheme : Scheme.values()) {
      assertEquals(
          figures(scheme, PaperWorkload.YCSB_A, 3),
          figures(scheme, PaperWorkload.YCSB_A, 3),
          scheme.title);
    }
  }

  @Test
  void getsCostErdasServerNothingAndTheOthersAMessageEach() {
    for (Scheme scheme : new Scheme[] {Scheme.ERDA, Scheme.ERDA_ANNOUNCING}) {
      assertEquals(0, figures(scheme, PaperWorkload.YCSB_C, 2).serverNs(), scheme.title);
    }
    for (Scheme scheme : new Scheme[] {Scheme.REDO_LOGGING, Scheme.READ_AFTER_WRITE}) {
      double ns = figures(scheme, PaperWorkload.YCSB_C, 2).serverNs();
      assertEquals(PaperMachines.MESSAGE_NS, ns, PaperMachines.MESSAGE_NS / 10.0, scheme.title);
    }
  }

  /** A server of one processor answers no more than it can take messages. */
  @Test
  void manyClientsOfABaselineWaitForItsServer() {
    SimulatedRun.Figures few = figures(Scheme.REDO_LOGGING, PaperWorkload.YCSB_C, 2);
    SimulatedRun.Figures many = figures(Scheme.REDO_LOGGING, PaperWorkload.YCSB_C, 32);
    double most = 1e9 / PaperMachines.MESSAGE_NS;
    assertTrue(many.perSecond() < most * 1.1, many::toString);
    assertTrue(many.perSecond() > most * 0.8, many::toString);
    assertTrue(many.meanNs() > 4 * few.meanNs(), many::toString);
    assertTrue(
        figures(Scheme.ERDA, PaperWorkload.YCSB_C, 32).perSecond() > 2 * many.perSecond(),
        "Erda's clients don't");
  }

  /** Request, place and answer; then the record and what makes it durable. */
  @Test
  void anUpdateOfReadAfterWriteTakesARoundTripMore() {
    double redo = figures(Scheme.REDO_LOGGING, PaperWorkload.UPDATES, 1).meanNs();
    double raw = figures(Scheme.READ_AFTER_WRITE, PaperWorkload.UPDATES, 1).meanNs();
    assertTrue(raw > redo + 2 * PaperMachines.NETWORK.wireNs(), redo + " and " + raw);
  }

  /**
   * It stores the word by a message, then WRITEs the object and READs what shows that it landed.
   */
  @Test
  void anUpdateThatAnnouncesFirstTakesARoundTripMore() {
    double publishing = figures(Scheme.ERDA, PaperWorkload.UPDATES, 1).meanNs();
    double announcing = figures(Scheme.ERDA_ANNOUNCING, PaperWorkload.UPDATES, 1).meanNs();
    double moreNs = announcing - publishing;
    assertTrue(moreNs > 2 * PaperMachines.NETWORK.wireNs(), publishing + " and " + announcing);
    assertTrue(moreNs < 4 * PaperMachines.NETWORK.wireNs(), publishing + " and " + announcing);
  }
}
