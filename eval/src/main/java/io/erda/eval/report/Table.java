package io.erda.eval.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A table for people: the first column to the left, the others to the right, as wide as they need
 * to be.
 */
public final class Table implements Part {
  private final List<String[]> rows = new ArrayList<>();

  public Table(String... header) {
    rows.add(header);
  }

  public Table row(Object... cells) {
    String[] texts = new String[cells.length];
    for (int i = 0; i < cells.length; i++) {
      texts[i] = String.valueOf(cells[i]);
    }
    rows.add(texts);
    return this;
  }

  @Override
  public String text() {
    int columns = rows.getFirst().length;
    int[] widths = new int[columns];
    for (String[] row : rows) {
      for (int i = 0; i < columns; i++) {
        widths[i] = Math.max(widths[i], row[i].length());
      }
    }
    StringBuilder text = new StringBuilder();
    for (String[] row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < columns; i++) {
        String padding = " ".repeat(widths[i] - row[i].length());
        line.append(i == 0 ? row[i] + padding : "  " + padding + row[i]);
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }

  @Override
  public String toString() {
    return text();
  }

  @Override
  public String html() {
    StringBuilder html = new StringBuilder("<div class=\"table\"><table>\n");
    for (int i = 0; i < rows.size(); i++) {
      String cell = i == 0 ? "th" : "td";
      html.append("<tr>");
      for (int column = 0; column < rows.get(i).length; column++) {
        html.append("<" + cell + (isOfWords(column) ? " class=\"words\">" : ">"))
            .append(Html.escape(rows.get(i)[column]))
            .append("</" + cell + ">");
      }
      html.append("</tr>\n");
    }
    return html.append("</table></div>\n").toString();
  }

  /** Whether no row has a number there. */
  private boolean isOfWords(int column) {
    return rows.stream()
        .skip(1)
        .map(row -> row[column])
        .noneMatch(cell -> cell.matches("[-–∞<>≥≤]?[ 0-9].*|[-–∞]"));
  }

  /** As CSV (RFC 4180). */
  @Override
  public Extract extract() {
    StringBuilder csv = new StringBuilder();
    for (String[] row : rows) {
      for (int i = 0; i < row.length; i++) {
        csv.append(i == 0 ? "\"" : ",\"").append(row[i].replace("\"", "\"\"")).append('"');
      }
      csv.append("\r\n");
    }
    return new Extract("csv", csv.toString());
  }

  /** A count with separators between thousands. */
  public static String count(double number) {
    return String.format(Locale.ROOT, "%,.0f", number);
  }

  /** Nanoseconds, in the unit that keeps three digits. */
  public static String time(double ns) {
    if (ns < 1_000) {
      return String.format(Locale.ROOT, "%.0f ns", ns);
    }
    if (ns < 1_000_000) {
      return String.format(Locale.ROOT, ns < 100_000 ? "%.1f µs" : "%.0f µs", ns / 1e3);
    }
    if (ns < 1e9) {
      return String.format(Locale.ROOT, ns < 1e8 ? "%.1f ms" : "%.0f ms", ns / 1e6);
    }
    return String.format(Locale.ROOT, "%.2f s", ns / 1e9);
  }

  /** A ratio or another small number. */
  public static String decimal(double number) {
    return String.format(Locale.ROOT, "%.2f", number);
  }
}
