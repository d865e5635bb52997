package io.erda.eval.baselines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PaperFiguresTest {
  /** The numbers of the paper that people see are those from which the goals are made. */
  @Test
  void thePapersNumbersStandAsItHasThem() {
    String latency = PaperFigures.latency().text();
    assertTrue(latency.contains("figures 14 to 17"), latency);
    assertTrue(squeezed(latency).contains("16 YCSB-A 74.64 100.00 100.18"), latency);
    assertEquals(
        74.64 / 100.18, PaperFigures.latencyRatio(PaperWorkload.YCSB_A, Scheme.READ_AFTER_WRITE));
    String throughput = squeezed(PaperFigures.throughput().text());
    assertTrue(throughput.contains("18 YCSB-C 96.35 62.93 63.28"), throughput);
    assertTrue(throughput.contains("21 update-only all about equal"), throughput);
    assertEquals(1, PaperFigures.throughputRatio(PaperWorkload.UPDATES, Scheme.REDO_LOGGING));
    assertEquals("1.50 and 1.48", PaperFigures.throughputInWords(PaperWorkload.YCSB_B));
    assertEquals("about equal", PaperFigures.throughputInWords(PaperWorkload.UPDATES));
    String cpu = squeezed(PaperFigures.cpu().text());
    assertTrue(cpu.contains("YCSB-C ∞ ∞") && cpu.contains("YCSB-B 20.09 20.81"), cpu);
    assertEquals(20.09, PaperFigures.cpuRatio(PaperWorkload.YCSB_B, Scheme.REDO_LOGGING));
    String bytes = squeezed(PaperFigures.bytes().text());
    assertTrue(bytes.contains("create Size(key) + 10 + N Size(key) + 12 + 2N"), bytes);
    assertThrows(
        IllegalArgumentException.class,
        () -> PaperFigures.cpuRatio(PaperWorkload.YCSB_B, Scheme.ERDA_ANNOUNCING));
  }

  private static String squeezed(String table) {
    return table.replaceAll(" +", " ");
  }
}
