package io.erda.eval.report;

import java.util.List;

/** Text as HTML and XML want it. */
public final class Html {
  /** Returns a text escaped for use between tags and in a quoted attribute. */
  public static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  /** A table whose first row is its header; columns without a number stand to the left. */
  static String table(List<String[]> rows) {
    StringBuilder html = new StringBuilder("<div class=\"table\"><table>\n");
    for (int i = 0; i < rows.size(); i++) {
      String cell = i == 0 ? "th" : "td";
      html.append("<tr>");
      for (int column = 0; column < rows.get(i).length; column++) {
        html.append("<" + cell + (isOfWords(rows, column) ? " class=\"words\">" : ">"))
            .append(escape(rows.get(i)[column]))
            .append("</" + cell + ">");
      }
      html.append("</tr>\n");
    }
    return html.append("</table></div>\n").toString();
  }

  /** Whether no row has a number there. */
  private static boolean isOfWords(List<String[]> rows, int column) {
    return rows.stream()
        .skip(1)
        .map(row -> row[column])
        .noneMatch(cell -> cell.matches("[-–∞<>≥≤]?[ 0-9].*|[-–∞]"));
  }

  private Html() {}
}
