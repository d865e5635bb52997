package io.erda.eval.report;

import io.erda.eval.process.ProcessException;
import java.util.Map;

/** Reads the figures that a server answers with. */
public final class StatsFigures {
  /** Bytes that the server stored in its memory, and that clients wrote into it. */
  public static long nvmBytes(Map<String, Long> figures) {
    return figure(figures, "pmem.bytes.stored") + figure(figures, "clients.bytes.written");
  }

  public static long figure(Map<String, Long> figures, String name) {
    Long value = figures.get(name);
    if (value == null) {
      throw new ProcessException(
          "the server has no figure named " + name + ", it has " + figures.keySet());
    }
    return value;
  }

  private StatsFigures() {}
}
