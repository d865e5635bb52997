package io.erda.console;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A table for people: the first column is left-aligned, the others right-aligned, each as wide as
 * necessary.
 */
public final class TextTable {
  private final List<String[]> rows = new ArrayList<>();

  public TextTable(String... header) {
    rows.add(header);
  }

  /**
   * Adds a row.
   *
   * @param cells as many as the header has
   * @return this table
   */
  public TextTable row(Object... cells) {
    String[] texts = new String[cells.length];
    for (int i = 0; i < cells.length; i++) {
      texts[i] = String.valueOf(cells[i]);
    }
    rows.add(texts);
    return this;
  }

  /** The header, followed by the rows: not to be changed. */
  public List<String[]> rows() {
    return Collections.unmodifiableList(rows);
  }

  /** The table as lines of text. */
  @Override
  public String toString() {
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
}
