package io.erda.eval.report;

/** Text as HTML and XML want it. */
public final class Html {
  /** What can stand between tags and in a quoted attribute. */
  public static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  private Html() {}
}
