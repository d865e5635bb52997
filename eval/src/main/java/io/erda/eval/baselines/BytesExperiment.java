package io.erda.eval.baselines;

import static io.erda.eval.report.Figure.count;
import static io.erda.eval.report.Figure.number;
import static io.erda.eval.report.Figure.ratio;

import io.erda.eval.Experiment;
import io.erda.eval.load.Dataset;
import io.erda.eval.process.DeviceChoice;
import io.erda.eval.report.Figure;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Bytes of persistent memory that server and client store for an operation, as the pmem layer and
 * the devices count them: the paper's Table 1.
 */
public final class BytesExperiment implements Experiment {
  private static final int[] SIZES = {64, 1024};
  private static final int LOADED = 1_000;
  private static final double UPDATE_RATIO_MAX = 0.55;
  private static final int UPDATE_RATIO_SIZE = 1024;

  private static final String DIFFERENCE =
      "Where the difference to the paper comes from, byte by byte. Erda: an object has 10 bytes of"
          + " checksum and lengths before its key, where the paper has 5, and is padded to a"
          + " multiple of 8; the table keeps a word of 8 bytes for the key instead of the key"
          + " itself, so a create stores the object and 16 bytes, an update or a delete the object"
          + " (a delete's has no value) and 8. Where puts announce first the word of 8 is stored"
          + " twice, pending and committed, so every operation stores 8 more. The baselines: 18"
          + " bytes of position, checksum and lengths before a pair in the log, 8 of lengths before"
          + " it in its place, 16 of the table's; an update leaves lengths and key in the place as"
          + " they are; a delete is a record with the key, which the paper's baselines do not have:"
          + " without one an older record would bring the key back.";

  private enum Operation {
    CREATE,
    UPDATE,
    DELETE;

    /** The value in Table 1 for a key and a value of these lengths. */
    int paper(Scheme scheme, int key, int value) {
      int pair = key + value;
      boolean erda = !scheme.isBaseline();
      return switch (this) {
        case CREATE -> erda ? key + 10 + pair : key + 12 + 2 * pair;
        case UPDATE -> erda ? 9 + pair : 4 + 2 * pair;
        case DELETE -> erda ? key + 9 : key + 8;
      };
    }
  }

  @Override
  public String name() {
    return "bytes";
  }

  @Override
  public String what() {
    return "an update of 1 KiB stores at most 0.55 of the bytes of persistent memory that the"
        + " baselines store, and creates and deletes are counted too: the paper's table 1";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    int count = context.quick() ? 2_000 : 20_000;
    Report report = context.report();
    Figures figures = new Figures("operation", "value", "scheme");
    for (int size : SIZES) {
      double[][] bytes = new double[Operation.values().length][Scheme.values().length];
      List<ServedScheme> schemes =
          ServedScheme.startAll(
              context, new Dataset(LOADED, size), DeviceChoice.SHM, count, Counting.BYTES);
      try {
        context.progress().step("values of " + size + " bytes");
        for (ServedScheme scheme : schemes) {
          context.progress().at(scheme.scheme.title);
          for (Operation operation : Operation.values()) {
            bytes[operation.ordinal()][scheme.scheme.ordinal()] = bytes(scheme, operation, count);
          }
        }
        context.progress().done("");
      } finally {
        ComparedStore.closeAll(schemes);
      }
      for (Operation operation : Operation.values()) {
        tell(operation, size, bytes[operation.ordinal()], figures, report);
      }
    }
    return report.add(figures).add(PaperFigures.bytes()).words(DIFFERENCE);
  }

  /**
   * Counts the bytes that an operation stores, averaged over operations on different keys that were
   * not loaded.
   */
  private static double bytes(ServedScheme scheme, Operation operation, int count)
      throws InterruptedException {
    Dataset dataset = new Dataset(LOADED + count, scheme.valueBytes);
    MemorySegment key = Arena.ofAuto().allocate(Dataset.KEY_BYTES, 8);
    long before;
    try (Caller caller = scheme.connect()) {
      scheme.settle();
      before = scheme.nvmBytes();
      for (int i = LOADED; i < LOADED + count; i++) {
        MemorySegment.copy(Dataset.key(i), 0, key, ValueLayout.JAVA_BYTE, 0, Dataset.KEY_BYTES);
        switch (operation) {
          case CREATE -> caller.put(key, dataset.value(i));
          case UPDATE -> caller.put(key, dataset.value(-i));
          case DELETE -> caller.delete(key);
        }
      }
      // Bytes that are applied later count, too. If the client left first the server would judge
      // its announced puts, which stores into the root.
      scheme.settle();
    }
    return (scheme.nvmBytes() - before) / (double) count;
  }

  private static void tell(
      Operation operation, int size, double[] bytes, Figures figures, Report report) {
    List<Figure> judged = new ArrayList<>();
    double erda = bytes[Scheme.ERDA.ordinal()];
    double erdaOfPaper = operation.paper(Scheme.ERDA, Dataset.KEY_BYTES, size);
    for (Scheme scheme : Scheme.values()) {
      double each = bytes[scheme.ordinal()];
      int paper = operation.paper(scheme, Dataset.KEY_BYTES, size);
      Figures.Row row =
          figures
              .row(operation.name().toLowerCase(Locale.ROOT), size + " B", scheme.title)
              .add(number("bytes", each), count("paper", paper));
      if (scheme != Scheme.ERDA) {
        Figure besideIt = ratio("Erda beside it", erda / each);
        if (scheme.isBaseline() && operation == Operation.UPDATE && size == UPDATE_RATIO_SIZE) {
          besideIt = besideIt.atMost(UPDATE_RATIO_MAX).atAnySize();
          judged.add(besideIt);
        }
        row.add(besideIt, ratio("in the paper", erdaOfPaper / paper));
      }
    }
    if (!judged.isEmpty()) {
      report.headline(
          "bytes that an update of 1 KiB stores in persistent memory, beside Redo Logging and Read"
              + " After Write",
          judged.toArray(Figure[]::new));
    }
  }
}
