package io.erda.eval.baselines;

import static io.erda.eval.report.Figure.number;
import static io.erda.eval.report.Figure.ratio;
import static io.erda.eval.report.Figure.words;

import io.erda.eval.report.Figures;
import io.erda.eval.report.InThePaper;
import java.util.List;
import java.util.Locale;

/**
 * The measurements of the Erda paper (§5, figures 14 to 25, and table 1): the paper's numbers for
 * people, and ratios of Erda to a baseline, because the paper's machines are different. In the
 * paper Erda announces first.
 */
final class PaperFigures {
  private static final String PAPER = " of “Write-Optimized and Consistent RDMA-based NVM Systems”";
  private static final List<PaperWorkload> WORKLOADS = List.of(PaperWorkload.values());

  /** In the order of the figures: C, B, A, updates. */
  private static final List<Paper> LATENCY_MICROS =
      List.of(
          new Paper(62.84, 92.7, 92.48),
          new Paper(62.76, 94.71, 94.25),
          new Paper(74.64, 100, 100.18),
          new Paper(102.1, 103.89, 105.47));

  /** Of updates it says that they are about equal. */
  private static final List<Paper> THOUSAND_PER_SECOND =
      List.of(
          new Paper(96.35, 62.93, 63.28),
          new Paper(92.57, 61.78, 62.57),
          new Paper(79.77, 57.60, 58.32),
          new Paper(1, 1, 1));

  /** As multiples of Erda's. */
  private static final List<Paper> CPU =
      List.of(
          new Paper(1, Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY),
          new Paper(1, 20.09, 20.81),
          new Paper(1, 1.89, 1.96),
          new Paper(1, 1.17, 1.11));

  private record Paper(double erda, double redoLogging, double readAfterWrite) {
    double beside(Scheme other) {
      return erda / of(other);
    }

    double of(Scheme other) {
      return switch (other) {
        case REDO_LOGGING -> redoLogging;
        case READ_AFTER_WRITE -> readAfterWrite;
        default ->
            throw new IllegalArgumentException(
                "the paper does not compare Erda with " + other.title);
      };
    }

    void tell(Figures.Row row) {
      row.add(
          number(Scheme.ERDA.title, erda),
          number(Scheme.REDO_LOGGING.title, redoLogging),
          number(Scheme.READ_AFTER_WRITE.title, readAfterWrite));
    }
  }

  /** The mean time that an operation takes with Erda beside that with a baseline. */
  static double latencyRatio(PaperWorkload workload, Scheme other) {
    return LATENCY_MICROS.get(WORKLOADS.indexOf(workload)).beside(other);
  }

  /** The operations a second with Erda beside those with a baseline. */
  static double throughputRatio(PaperWorkload workload, Scheme other) {
    return THOUSAND_PER_SECOND.get(WORKLOADS.indexOf(workload)).beside(other);
  }

  /** Returns the ratios to both baselines, in words. */
  static String throughputInWords(PaperWorkload workload) {
    return workload == PaperWorkload.UPDATES
        ? "about equal"
        : String.format(
            Locale.ROOT,
            "%.2f and %.2f",
            throughputRatio(workload, Scheme.REDO_LOGGING),
            throughputRatio(workload, Scheme.READ_AFTER_WRITE));
  }

  /** The server's processor time with a baseline beside that with Erda; may be infinite. */
  static double cpuRatio(PaperWorkload workload, Scheme other) {
    return CPU.get(WORKLOADS.indexOf(workload)).of(other);
  }

  /** Figures 14 to 17. */
  static InThePaper latency() {
    Figures figures = new Figures("figure", "µs");
    for (PaperWorkload workload : WORKLOADS) {
      LATENCY_MICROS
          .get(WORKLOADS.indexOf(workload))
          .tell(figures.row(14 + WORKLOADS.indexOf(workload), workload.label));
    }
    return new InThePaper(
        "This stands in figures 14 to 17"
            + PAPER
            + ", as the mean over values of 16 to 4,096 bytes. Erda announces first there.",
        figures);
  }

  /** Figures 18 to 21. */
  static InThePaper throughput() {
    Figures figures = new Figures("figure", "thousand a second");
    for (PaperWorkload workload : WORKLOADS) {
      Figures.Row row = figures.row(18 + WORKLOADS.indexOf(workload), workload.label);
      if (workload == PaperWorkload.UPDATES) {
        row.add(words(Scheme.ERDA.title, "all about equal"));
      } else {
        THOUSAND_PER_SECOND.get(WORKLOADS.indexOf(workload)).tell(row);
      }
    }
    return new InThePaper(
        "This stands in figures 18 to 21"
            + PAPER
            + ", as the mean over numbers of threads. Erda announces first there.",
        figures);
  }

  /** Figures 22 to 25. */
  static InThePaper cpu() {
    Figures figures = new Figures("the server's processor time, beside Erda's");
    for (PaperWorkload workload : WORKLOADS) {
      Paper paper = CPU.get(WORKLOADS.indexOf(workload));
      figures
          .row(workload.label)
          .add(
              ratio(Scheme.REDO_LOGGING.title, paper.redoLogging),
              ratio(Scheme.READ_AFTER_WRITE.title, paper.readAfterWrite));
    }
    return new InThePaper(
        "This stands in figures 22 to 25"
            + PAPER
            + ": how many times Erda's processor time a baseline takes. Erda's is 0 in YCSB-C.",
        figures);
  }

  /** Table 1. */
  static InThePaper bytes() {
    Figures figures = new Figures("bytes of NVM");
    bytes(figures.row("create"), "Size(key) + 10 + N", "Size(key) + 12 + 2N");
    bytes(figures.row("update"), "9 + N", "4 + 2N");
    bytes(figures.row("delete"), "Size(key) + 9", "Size(key) + 8");
    return new InThePaper(
        "This stands in table 1" + PAPER + ", where N is the size of a key and its value.",
        figures);
  }

  private static void bytes(Figures.Row row, String erda, String baseline) {
    row.add(
        words(Scheme.ERDA.title, erda),
        words(Scheme.REDO_LOGGING.title, baseline),
        words(Scheme.READ_AFTER_WRITE.title, baseline));
  }

  private PaperFigures() {}
}
