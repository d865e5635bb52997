package io.erda.eval.report;

/** A part of an experiment's report: words, a table or a plot. */
public interface Part {
  /** For a terminal; empty where nothing of it can be shown there. Ends with a line's end. */
  String text();

  /** For a page, as a part of its body. */
  String html();

  /** Returns the part in a form for programs, or for another page; null when it has none. */
  default Extract extract() {
    return null;
  }

  /**
   * A part as a file.
   *
   * @param extension how its name ends, without a dot
   */
  record Extract(String extension, String content) {}
}
