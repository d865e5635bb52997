package io.erda.eval.report;

import io.erda.console.TextTable;
import java.util.List;

/** A table: text for a terminal, HTML for a page, CSV for programs. */
public final class Table implements Part {
  private final TextTable table;

  public Table(String... header) {
    table = new TextTable(header);
  }

  /** Adds a row with as many cells as the header has. Returns this table. */
  public Table row(Object... cells) {
    table.row(cells);
    return this;
  }

  @Override
  public String text() {
    return table.toString();
  }

  @Override
  public String toString() {
    return text();
  }

  @Override
  public String html() {
    List<String[]> rows = table.rows();
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
    return table.rows().stream()
        .skip(1)
        .map(row -> row[column])
        .noneMatch(cell -> cell.matches("[-–∞<>≥≤]?[ 0-9].*|[-–∞]"));
  }

  /** As CSV (RFC 4180). */
  @Override
  public Extract extract() {
    StringBuilder csv = new StringBuilder();
    for (String[] row : table.rows()) {
      for (int i = 0; i < row.length; i++) {
        csv.append(i == 0 ? "\"" : ",\"").append(row[i].replace("\"", "\"\"")).append('"');
      }
      csv.append("\r\n");
    }
    return new Extract("csv", csv.toString());
  }
}
