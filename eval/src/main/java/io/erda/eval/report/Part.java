package io.erda.eval.report;

/** A part of what an experiment tells: words, a table or a plot. */
public interface Part {
  /** For a terminal; empty where nothing of it can be shown there. Ends with a line's end. */
  String text();

  /** For a page, as a part of its body. */
  String html();

  /** What a program can read, or another page show, of it alone; null where that is nothing. */
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
