package io.erda.eval.report;

import java.util.Locale;

/** What became of a goal; of several, the first of these counts. */
enum Outcome {
  MISSED("missed"),

  /** The run can't tell. */
  NOT_JUDGED("not judged"),
  MET("met"),

  /** Nothing was expected. */
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
