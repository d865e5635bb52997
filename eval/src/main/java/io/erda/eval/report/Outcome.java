package io.erda.eval.report;

import java.util.Locale;

/**
 * The outcome of a goal. The outcome of several goals is the first constant that one of them has.
 */
enum Outcome {
  MISSED("missed"),

  /** The run can't judge the goal. */
  NOT_JUDGED("not judged"),
  MET("met"),

  /** There is no goal. */
  NO_GOAL("no goal");

  private final String words;

  Outcome(String words) {
    this.words = words;
  }

  String words() {
    return words;
  }

  /** The outcome in words, coloured by a page's style. */
  String html(String shown) {
    return "<span class=\"%s\">%s</span>"
        .formatted(name().toLowerCase(Locale.ROOT).replace('_', '-'), shown);
  }
}
