package io.erda.eval.report;

import io.erda.console.Numbers;
import java.util.Locale;
import java.util.function.DoubleFunction;

/**
 * The unit of a figure: its form for people, its form in plots, and the suffix of its name in JSON.
 */
public enum Unit {
  NS("Ns", Unit::time, "µs", 1e3),
  PER_SECOND("PerSecond", each -> Numbers.count(each) + "/s", "thousand a second", 1e3),
  BYTES("Bytes", Unit::bytes, "MB", 1e6),
  COUNT("", Numbers::count, "", 1),
  NUMBER("", Numbers::decimal, "", 1),

  /** One thing beside another; less than a tenth is a fraction for people. */
  RATIO("Ratio", Unit::ratio, "times", 1),

  /** A part of a whole, which is 1: a processor core, or the time of a run. */
  SHARE("Share", Unit::percent, "%", 0.01);

  private final String suffix;

  /** Holds nothing: a method of a class. */
  @SuppressWarnings("ImmutableEnumChecker")
  private final DoubleFunction<String> text;

  private final String drawn;
  private final double drawnIn;

  Unit(String suffix, DoubleFunction<String> text, String drawn, double drawnIn) {
    this.suffix = suffix;
    this.text = text;
    this.drawn = drawn;
    this.drawnIn = drawnIn;
  }

  private static String time(double ns) {
    return ns < 0 ? "-" + Numbers.time(-ns) : Numbers.time(ns);
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, share < 0.01 ? "%.3f%%" : "%.1f%%", share * 100);
  }

  private static String bytes(double bytes) {
    return bytes < 1e7 ? Numbers.count(bytes) + " B" : Numbers.count(bytes / 1e6) + " MB";
  }

  private static String ratio(double ratio) {
    return ratio > 0 && ratio < 0.1
        ? String.format(Locale.ROOT, "1/%.0f", Math.floor(1 / ratio + 1e-9))
        : Numbers.decimal(ratio);
  }

  /** A value for people; a dash where nothing was measured. */
  String text(double value) {
    if (Double.isNaN(value)) {
      return "–";
    }
    return Double.isInfinite(value) ? "∞" : text.apply(value);
  }

  /** The unit of a plot's axis. */
  public String drawn() {
    return drawn;
  }

  /** A value in the unit of a plot's axis. */
  double drawn(double value) {
    return value / drawnIn;
  }

  /**
   * The name of a figure for programs: the words of its title as one word, with the unit last.
   *
   * @param title for people, as “get / floor”, of which a ratio is “getFloorRatio”
   */
  String jsonName(String title) {
    StringBuilder name = new StringBuilder();
    for (String word : title.split("[^A-Za-z0-9]+")) {
      String plain =
          word.length() > 1 && word.equals(word.toUpperCase(Locale.ROOT))
              ? word.toLowerCase(Locale.ROOT)
              : word;
      if (!plain.isEmpty()) {
        char first = plain.charAt(0);
        name.append(name.isEmpty() ? Character.toLowerCase(first) : Character.toUpperCase(first));
        name.append(plain, 1, plain.length());
      }
    }
    return name.toString().toLowerCase(Locale.ROOT).endsWith(suffix.toLowerCase(Locale.ROOT))
        ? name.toString()
        : name + suffix;
  }
}
