package io.erda.eval.report;

import com.fasterxml.jackson.databind.node.DoubleNode;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.ValueNode;
import java.util.Arrays;

/**
 * One result of an experiment, with its goal. The cell in a table, the fields in JSON and CSV, the
 * bar in a plot and the verdict are all made from it. Immutable.
 *
 * <p>A figure of several rounds is their median; people see the least and the largest value beside
 * it, and programs get all values. A figure that is not a number was not measured.
 */
public final class Figure {
  private final String title;
  private final Unit unit;
  private final double[] rounds;
  private final String words;
  private final Goal goal;

  private Figure(String title, Unit unit, double[] rounds, String words, Goal goal) {
    this.title = title;
    this.unit = unit;
    this.rounds = rounds;
    this.words = words;
    this.goal = goal;
  }

  /**
   * A figure without a goal.
   *
   * @param title for people; {@link Unit#jsonName} makes the programs' name of it
   * @param rounds one value or more
   */
  public static Figure of(String title, Unit unit, double... rounds) {
    if (rounds.length == 0) {
      throw new IllegalArgumentException(title + " has no value");
    }
    return new Figure(title, unit, rounds.clone(), null, null);
  }

  /** Nanoseconds. */
  public static Figure ns(String title, double... rounds) {
    return of(title, Unit.NS, rounds);
  }

  /** Something that happens so often in a second. */
  public static Figure perSecond(String title, double... rounds) {
    return of(title, Unit.PER_SECOND, rounds);
  }

  /** One thing beside another, as a quotient. */
  public static Figure ratio(String title, double... rounds) {
    return of(title, Unit.RATIO, rounds);
  }

  /** A part of a whole, which is 1. */
  public static Figure share(String title, double... rounds) {
    return of(title, Unit.SHARE, rounds);
  }

  /** Bytes. */
  public static Figure bytes(String title, double... rounds) {
    return of(title, Unit.BYTES, rounds);
  }

  /** A whole number. */
  public static Figure count(String title, double... rounds) {
    return of(title, Unit.COUNT, rounds);
  }

  /** A small number with two digits behind the point. */
  public static Figure number(String title, double... rounds) {
    return of(title, Unit.NUMBER, rounds);
  }

  /** Returns a figure that is a text. */
  public static Figure words(String title, String words) {
    return new Figure(title, Unit.COUNT, new double[] {Double.NaN}, words, null);
  }

  /** Returns this figure with the goal to be at most {@code limit}. */
  public Figure atMost(double limit) {
    return withGoal(new Goal(Goal.Bound.AT_MOST, limit, false));
  }

  /** Returns this figure with the goal to be less than {@code limit}. */
  public Figure under(double limit) {
    return withGoal(new Goal(Goal.Bound.UNDER, limit, false));
  }

  /** Returns this figure with the goal to be at least {@code limit}. */
  public Figure atLeast(double limit) {
    return withGoal(new Goal(Goal.Bound.AT_LEAST, limit, false));
  }

  /** Returns this figure with the goal to be more than {@code limit}. */
  public Figure over(double limit) {
    return withGoal(new Goal(Goal.Bound.OVER, limit, false));
  }

  /** Returns this figure with a goal that is judged in a quick run, too. */
  public Figure atAnySize() {
    return withGoal(new Goal(goal.bound(), goal.limit(), true));
  }

  private Figure withGoal(Goal of) {
    return new Figure(title, unit, rounds, words, of);
  }

  String title() {
    return title;
  }

  Unit unit() {
    return unit;
  }

  /** Null where nothing is expected. */
  Goal goal() {
    return goal;
  }

  /** The median of all rounds. */
  public double value() {
    return Rounds.median(rounds);
  }

  double min() {
    return Arrays.stream(rounds).min().orElseThrow();
  }

  double max() {
    return Arrays.stream(rounds).max().orElseThrow();
  }

  boolean isMeasured() {
    return !Double.isNaN(value());
  }

  boolean isMissed() {
    return goal != null && isMeasured() && !goal.isMetBy(value());
  }

  /** The figure in a table for people. */
  String text() {
    if (words != null) {
      return words;
    }
    return brief()
        + (rounds.length == 1 ? "" : " (" + unit.text(min()) + "…" + unit.text(max()) + ")");
  }

  /** The median alone, for people. */
  String brief() {
    return words != null ? words : unit.text(value());
  }

  /** The figure in a table for programs; empty where it was not measured. */
  String plain() {
    return words != null ? words : isMeasured() ? Double.toString(value()) : "";
  }

  String jsonName() {
    return unit.jsonName(title);
  }

  /** Puts the figure into JSON, and its rounds if they are several; nothing for no number. */
  void write(ObjectNode json) {
    String name = jsonName();
    if (words != null) {
      json.put(name, words);
    } else if (Double.isFinite(value())) {
      json.set(name, number(value()));
      if (rounds.length > 1) {
        Arrays.stream(rounds).mapToObj(Figure::number).forEach(json.putArray(name + "Rounds")::add);
      }
    }
  }

  /** A number for programs, without a point where it is whole; null where it is no number. */
  static ValueNode number(double value) {
    if (!Double.isFinite(value)) {
      return NullNode.instance;
    }
    return value == Math.rint(value) && Math.abs(value) < 1L << 53
        ? LongNode.valueOf((long) value)
        : DoubleNode.valueOf(value);
  }

  /**
   * Returns the sentence about a figure that missed its goal.
   *
   * @param where the labels of its row; may be empty
   */
  String missed(String where) {
    String limit = goal.text(unit);
    String exactly = limit.endsWith(unit.text(value())) ? ", exactly " + value() : "";
    return named(where) + " is " + text() + exactly + ", must be " + limit;
  }

  /** The figure with the labels of its row. */
  String named(String where) {
    return where.isEmpty() ? title : where + ": " + title;
  }
}
