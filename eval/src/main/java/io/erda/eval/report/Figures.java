package io.erda.eval.report;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.console.Numbers;
import io.erda.console.TextTable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A table of figures, in one of two shapes. In a {@linkplain #Figures(String...) table} each row
 * has labels, which name its subject, and a figure for each column; the columns are in the order in
 * which figures with their titles were added. A {@linkplain #list list} has a row for each figure,
 * with its title.
 *
 * <p>A table may have a series of values in each row, along an axis: see {@link #along}. The range
 * of a series of medians is shown by one figure, for the table would become too wide. Programs get
 * an object for each row, by its labels, with a field for each figure. One thread.
 */
public final class Figures implements Part {
  private static final String MUST_BE = "must be";
  private static final String WIDEST_RANGE = "widest range";

  private final List<String> heads;
  private final boolean listed;
  private final List<Row> rows = new ArrayList<>();
  private String axis;
  private double[] places = {};
  private String seriesTitle;
  private Unit seriesUnit;

  /**
   * A table whose rows have figures side by side.
   *
   * @param heads of the columns with the labels of rows
   */
  public Figures(String... heads) {
    this(List.of(heads), false);
  }

  private Figures(List<String> heads, boolean listed) {
    this.heads = heads;
    this.listed = listed;
  }

  /** A table with a row for each figure, below some words. */
  public static Figures list(String head) {
    return new Figures(List.of(head), true);
  }

  /**
   * Lets each row begin with values at the places of an axis.
   *
   * @param title what the values are, for programs and above a plot
   * @param along what changes from place to place
   * @return this table
   */
  public Figures along(String title, Unit unit, String along, double... where) {
    seriesTitle = title;
    seriesUnit = unit;
    axis = along;
    places = where.clone();
    return this;
  }

  /**
   * Begins a row of a table.
   *
   * @param labels as many as the table has heads; counts are written with separators for people
   */
  public Row row(Object... labels) {
    if (listed || labels.length != heads.size()) {
      throw new IllegalArgumentException("a row of " + heads + " with " + Arrays.toString(labels));
    }
    Row row = new Row(List.of(labels));
    rows.add(row);
    return row;
  }

  /** Adds figures to a list. Returns this table. */
  public Figures add(Figure... figures) {
    if (!listed) {
      throw new IllegalArgumentException("figures of a table stand in rows");
    }
    for (Figure figure : figures) {
      rows.add(new Row(List.of()).add(figure));
    }
    return this;
  }

  /** The figures of one subject. */
  public final class Row {
    private final List<Object> labels;
    private final Map<String, Figure> figures = new LinkedHashMap<>();
    private double[] values = {};

    /** The rounds of each value, of which it is the median; empty for single values. */
    private double[][] rounds = {};

    private Row(List<Object> labels) {
      this.labels = labels;
    }

    /** Sets the values along the table's axis. Returns this row. */
    public Row values(double... along) {
      if (along.length != places.length) {
        throw new IllegalArgumentException(along.length + " values at " + places.length);
      }
      values = along.clone();
      return this;
    }

    /**
     * Sets the values along the table's axis to the medians of rounds. If the rounds are several,
     * people also see the widest of their ranges in this row, and programs get all of them.
     *
     * @param along the rounds at each place of the axis
     * @return this row
     */
    public Row rounds(double[]... along) {
      values(Arrays.stream(along).mapToDouble(Rounds::median).toArray());
      if (Arrays.stream(along).anyMatch(each -> each.length > 1)) {
        rounds = Arrays.stream(along).map(double[]::clone).toArray(double[][]::new);
        add(Figure.share(WIDEST_RANGE, widestRange()));
      }
      return this;
    }

    /** The largest distance from the least to the most of some rounds, beside their median. */
    private double widestRange() {
      return Arrays.stream(rounds)
          .mapToDouble(each -> (max(each) - min(each)) / Rounds.median(each))
          .filter(Double::isFinite)
          .max()
          .orElse(Double.NaN);
    }

    /** Adds figures, each with a title that the row does not have. Returns this row. */
    public Row add(Figure... more) {
      for (Figure figure : more) {
        if (figures.putIfAbsent(figure.title(), figure) != null) {
          throw new IllegalArgumentException("twice in a row: " + figure.title());
        }
      }
      return this;
    }

    private double[] roundsAt(int place) {
      return rounds.length == 0 ? new double[] {values[place]} : rounds[place];
    }

    private Stream<String> texts() {
      return labels.stream()
          .map(label ->
              label instanceof Number number
                  ? Numbers.count(number.doubleValue())
                  : label.toString());
    }

    private String where() {
      return texts().filter(text -> !text.isEmpty()).collect(Collectors.joining(", "));
    }

    private String last() {
      return texts().reduce((_, last) -> last).orElse("");
    }
  }

  /**
   * A column of figures: what heads it for people and for programs, and whether goals are in it.
   */
  private record Column(String title, String jsonName, boolean judged) {
    Figure of(Row row) {
      return row.figures.get(title);
    }
  }

  private List<Column> columns() {
    Map<String, Column> columns = new LinkedHashMap<>();
    for (Row row : rows) {
      for (Figure figure : row.figures.values()) {
        columns.merge(
            figure.title(),
            new Column(figure.title(), figure.jsonName(), figure.goal() != null),
            (one, other) -> new Column(one.title, one.jsonName, one.judged || other.judged));
      }
    }
    return List.copyOf(columns.values());
  }

  /** Figures by the labels of their rows, for a verdict. */
  Stream<Judged> judged() {
    return rows.stream()
        .flatMap(row ->
            row.figures.values().stream()
                .filter(figure -> figure.goal() != null)
                .map(figure -> new Judged(row.where(), figure)));
  }

  /** A figure that has a goal, with the labels of its row. */
  record Judged(String where, Figure figure) {}

  private static String place(double place) {
    return place == Math.rint(place)
        ? Numbers.count(place)
        : String.format(Locale.ROOT, "%.1f", place);
  }

  /** The table for people, the header first. */
  private TextTable table() {
    if (listed) {
      return listTable();
    }
    List<Column> columns = columns();
    List<String> header = new ArrayList<>(heads);
    for (int i = 0; i < places.length; i++) {
      header.add(place(places[i]) + (i == 0 ? " " + axis : ""));
    }
    for (Column column : columns) {
      header.add(column.title);
      header.addAll(column.judged ? List.of(MUST_BE) : List.of());
    }
    TextTable table = new TextTable(header.toArray(String[]::new));
    for (Row row : rows) {
      List<String> cells = new ArrayList<>(row.texts().toList());
      for (int i = 0; i < places.length; i++) {
        cells.add(row.values.length == 0 ? "" : seriesUnit.text(row.values[i]));
      }
      for (Column column : columns) {
        Figure figure = column.of(row);
        cells.add(figure == null ? "" : figure.text());
        cells.addAll(column.judged ? List.of(goal(figure)) : List.of());
      }
      table.row(cells.toArray());
    }
    return table;
  }

  private TextTable listTable() {
    boolean judged = judged().findAny().isPresent();
    TextTable table =
        judged ? new TextTable(heads.getFirst(), "", MUST_BE) : new TextTable(heads.getFirst(), "");
    for (Row row : rows) {
      for (Figure figure : row.figures.values()) {
        if (judged) {
          table.row(figure.title(), figure.text(), goal(figure));
        } else {
          table.row(figure.title(), figure.text());
        }
      }
    }
    return table;
  }

  private static String goal(Figure figure) {
    return figure == null || figure.goal() == null ? "" : figure.goal().text(figure.unit());
  }

  @Override
  public String text() {
    return table().toString();
  }

  @Override
  public String toString() {
    return text();
  }

  @Override
  public String html() {
    return Html.table(table().rows());
  }

  /** The figures as CSV (RFC 4180): plain numbers below the names that JSON has for them. */
  @Override
  public Extract extract() {
    List<List<String>> lines = new ArrayList<>();
    if (listed) {
      lines.add(List.of(heads.getFirst(), "name", "value"));
      rows.stream()
          .flatMap(row -> row.figures.values().stream())
          .forEach(each -> lines.add(List.of(each.title(), each.jsonName(), each.plain())));
    } else {
      List<Column> columns = columns();
      List<String> header = new ArrayList<>(heads);
      for (double place : places) {
        header.add(seriesUnit.jsonName(seriesTitle) + " at " + place(place) + " " + axis);
      }
      columns.forEach(column -> header.add(column.jsonName));
      lines.add(header);
      for (Row row : rows) {
        List<String> cells = new ArrayList<>(row.labels.stream().map(Object::toString).toList());
        for (int i = 0; i < places.length; i++) {
          cells.add(isMeasured(row, i) ? Double.toString(row.values[i]) : "");
        }
        columns.forEach(column -> {
          Figure figure = column.of(row);
          cells.add(figure == null ? "" : figure.plain());
        });
        lines.add(cells);
      }
    }
    return new Extract("csv", lines.stream().map(Figures::csv).collect(Collectors.joining()));
  }

  private static String csv(List<String> cells) {
    return cells.stream()
        .map(cell -> '"' + cell.replace("\"", "\"\"") + '"')
        .collect(Collectors.joining(",", "", "\r\n"));
  }

  private static boolean isMeasured(Row row, int place) {
    return row.values.length > 0 && Double.isFinite(row.values[place]);
  }

  /** Puts all figures into an object for programs. */
  void write(ObjectNode json) {
    if (axis != null) {
      Arrays.stream(places)
          .mapToObj(Figure::number)
          .forEach(json.putArray(Unit.COUNT.jsonName(axis))::add);
    }
    for (Row row : rows) {
      ObjectNode node = json;
      for (Object label : row.labels) {
        String name = label.toString();
        node = name.isEmpty() ? node : node.withObjectProperty(name);
      }
      if (row.values.length > 0) {
        Arrays.stream(row.values)
            .mapToObj(Figure::number)
            .forEach(node.putArray(seriesUnit.jsonName(seriesTitle))::add);
      }
      if (row.rounds.length > 0) {
        ArrayNode all = node.putArray(seriesUnit.jsonName(seriesTitle) + "Rounds");
        for (double[] rounds : row.rounds) {
          Arrays.stream(rounds).mapToObj(Figure::number).forEach(all.addArray()::add);
        }
      }
      for (Figure figure : row.figures.values()) {
        figure.write(node);
      }
    }
  }

  /** Returns the name of the quantity along the axis. */
  public String axis() {
    return axis;
  }

  /** The unit in which a plot has the values along the axis. */
  public String seriesUnit() {
    return seriesUnit.drawn();
  }

  /**
   * A row of values along the axis, where they were measured.
   *
   * @param panel the row's first label, where it has two
   * @param name the row's last label
   * @param min the least of the rounds at each place; the value itself if it has no rounds
   * @param max the most of the rounds at each place; the value itself if it has no rounds
   */
  public record Curve(
      String panel, String name, double[] places, double[] values, double[] min, double[] max) {}

  /**
   * A figure with its least and most.
   *
   * @param panel the figure's title
   * @param name the last label of its row
   */
  public record Bar(String panel, String name, double median, double min, double max) {}

  /** The values along the axis, in the unit of a plot. */
  public List<Curve> curves() {
    List<Curve> curves = new ArrayList<>();
    for (Row row : rows) {
      int[] measured = IntStream.range(0, places.length).filter(i -> isMeasured(row, i)).toArray();
      if (measured.length > 0) {
        curves.add(
            new Curve(
                heads.size() == 1 ? "" : row.texts().findFirst().orElse(""),
                row.last(),
                Arrays.stream(measured).mapToDouble(i -> places[i]).toArray(),
                drawn(measured, i -> row.values[i]),
                drawn(measured, i -> min(row.roundsAt(i))),
                drawn(measured, i -> max(row.roundsAt(i)))));
      }
    }
    return curves;
  }

  private double[] drawn(int[] measured, IntToDoubleFunction value) {
    return Arrays.stream(measured)
        .mapToDouble(i -> seriesUnit.drawn(value.applyAsDouble(i)))
        .toArray();
  }

  private static double min(double... rounds) {
    return Arrays.stream(rounds).min().orElseThrow();
  }

  private static double max(double... rounds) {
    return Arrays.stream(rounds).max().orElseThrow();
  }

  /** All figures of a unit, column by column, in the unit of a plot. */
  public List<Bar> bars(Unit unit) {
    List<Bar> bars = new ArrayList<>();
    for (Column column : columns()) {
      for (Row row : rows) {
        Figure figure = column.of(row);
        if (figure != null && figure.unit() == unit && figure.isMeasured()) {
          bars.add(
              new Bar(
                  column.title,
                  row.last(),
                  unit.drawn(figure.value()),
                  unit.drawn(figure.min()),
                  unit.drawn(figure.max())));
        }
      }
    }
    return bars;
  }
}
