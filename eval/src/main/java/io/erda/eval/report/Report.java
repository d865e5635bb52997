package io.erda.eval.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The report of an experiment: words, tables of figures and plots for people, the same data for
 * programs, and the verdict on the figures with goals. A table may get its rows after it was added.
 * One thread.
 */
public final class Report {
  /** More goals that a quick run can't judge are only counted. */
  private static final int NAMED_MAX = 3;

  private final boolean quick;
  private final List<Part> parts = new ArrayList<>();
  private final Map<Figures, String> tables = new LinkedHashMap<>();
  private final ObjectNode given = new ObjectMapper().createObjectNode();
  private final List<String> missed = new ArrayList<>();
  private final List<String> unjudged = new ArrayList<>();
  private final List<Line> headlines = new ArrayList<>();
  private Part picture;
  private boolean nothingExpected;

  /** A line for the beginning of a page, whose figures may still get their goals. */
  private record Line(String what, List<Figure> figures) {}

  /**
   * An empty report.
   *
   * @param quick whether the run is too short for goals, but for those {@link Figure#atAnySize}
   */
  public Report(boolean quick) {
    this.quick = quick;
  }

  /** Returns the report of an experiment that this machine can't run: nothing was shown. */
  public static Report skipped(String why) {
    Report report = new Report(false).words("not measured: " + why);
    report.given.put("skipped", why);
    report.unjudged.add("not measured: " + why);
    return report;
  }

  /** Adds some sentences; none where they are empty. Returns this report. */
  public Report words(String words) {
    return words.isBlank() ? this : add(new Prose(words));
  }

  /** Adds a part; a table's figures stand at the root for programs. Returns this report. */
  public Report add(Part part) {
    return part instanceof Figures figures ? add("", figures) : addPart(part);
  }

  /**
   * Adds a table.
   *
   * @param name of the object that has its figures for programs
   * @return this report
   */
  public Report add(String name, Figures figures) {
    tables.put(figures, name);
    return addPart(figures);
  }

  private Report addPart(Part part) {
    parts.add(part);
    return this;
  }

  /** Adds numbers only for programs: how much was measured, or data that people see in a plot. */
  public Report given(String name, double... values) {
    if (values.length == 1) {
      given.set(name, Figure.number(values[0]));
    } else {
      Arrays.stream(values).mapToObj(Figure::number).forEach(given.putArray(name)::add);
    }
    return this;
  }

  /** Adds figures only for programs. Returns this report. */
  public Report given(String name, Figures figures) {
    tables.put(figures, name);
    return this;
  }

  /** Adds a text only for programs. */
  public Report given(String name, String value) {
    given.put(name, value);
    return this;
  }

  /**
   * Adds a line about goals that this run can't judge although it has their figures, which then
   * have no goals.
   *
   * @return this report
   */
  public Report notJudged(String why) {
    unjudged.add(why);
    return this;
  }

  /** Adds a line about a missed goal that is not the goal of a figure. Returns this report. */
  public Report miss(String what) {
    missed.add(what);
    return this;
  }

  /**
   * Adds figures to the few with which a page begins. They must be in a table or a list, too, by
   * which they are judged.
   *
   * @param what a description of the measurement and its comparison
   * @param figures one figure, or several with the same goal
   * @return this report
   */
  public Report headline(String what, Figure... figures) {
    headlines.add(new Line(what, List.of(figures)));
    return this;
  }

  /**
   * Adds a part with which a page may begin, too; a page begins with one such part. Returns this
   * report.
   */
  public Report picture(Part part) {
    picture = part;
    return add(part);
  }

  /** Notes that the experiment has no goal, so that its verdict is neither met nor missed. */
  public Report nothingExpected() {
    nothingExpected = true;
    return this;
  }

  List<Headline> headlines() {
    return headlines.stream().map(this::headline).toList();
  }

  private Headline headline(Line line) {
    return new Headline(
        line.what,
        line.figures.stream().map(Figure::brief).collect(Collectors.joining(", ")),
        line.figures.stream()
            .filter(figure -> figure.goal() != null)
            .map(figure -> figure.goal().text(figure.unit()))
            .distinct()
            .collect(Collectors.joining(", ")),
        line.figures.stream()
            .map(this::outcome)
            .min(Comparator.naturalOrder())
            .orElse(Outcome.NO_GOAL));
  }

  private Outcome outcome(Figure figure) {
    if (figure.goal() == null) {
      return Outcome.NO_GOAL;
    }
    if (!figure.isMeasured() || !canTell(figure)) {
      return Outcome.NOT_JUDGED;
    }
    return figure.isMissed() ? Outcome.MISSED : Outcome.MET;
  }

  /** With which a page may begin; null where this report has none. */
  Part picture() {
    return picture;
  }

  /** Whether the experiment has no goal. */
  boolean expectsNothing() {
    return nothingExpected;
  }

  /** Words, tables and plots, in their order. */
  public List<Part> parts() {
    return List.copyOf(parts);
  }

  /** All figures, for programs. */
  public ObjectNode json() {
    ObjectNode json = given.deepCopy();
    tables.forEach(
        (figures, name) -> figures.write(name.isEmpty() ? json : json.withObjectProperty(name)));
    return json;
  }

  /** Returns the missed goals, one line each; empty when there are none. */
  public List<String> missed() {
    return Stream.concat(
            judged()
                .filter(each -> canTell(each.figure()) && each.figure().isMissed())
                .map(each -> each.figure().missed(each.where())),
            missed.stream())
        .toList();
  }

  /** Goals that are neither met nor missed, because this run can't tell, with the reason. */
  public List<String> unjudged() {
    List<String> lines = new ArrayList<>(unjudged);
    List<Figures.Judged> tooShort =
        judged().filter(each -> each.figure().isMeasured() && !canTell(each.figure())).toList();
    if (tooShort.size() > NAMED_MAX) {
      lines.add("a quick run can't tell: " + tooShort.size() + " goals");
    } else if (!tooShort.isEmpty()) {
      lines.add(
          tooShort.stream()
              .map(each -> each.figure().named(each.where()))
              .collect(Collectors.joining("; ", "a quick run can't tell: ", "")));
    }
    judged()
        .filter(each -> !each.figure().isMeasured())
        .forEach(each -> lines.add(each.figure().named(each.where()) + ": not measured"));
    return List.copyOf(lines);
  }

  private Stream<Figures.Judged> judged() {
    return tables.keySet().stream().flatMap(Figures::judged);
  }

  private boolean canTell(Figure figure) {
    return !quick || figure.goal().atAnySize();
  }

  /** Returns the parts of the report that a terminal can show. */
  public String text() {
    return parts.stream()
        .map(Part::text)
        .filter(text -> !text.isEmpty())
        .collect(Collectors.joining("\n"));
  }
}
