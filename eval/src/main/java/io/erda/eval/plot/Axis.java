package io.erda.eval.plot;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * An axis: maps values to pixels, and chooses the labelled values.
 *
 * @param low the value at {@code from}
 * @param high the value at {@code to}, more than {@code low}
 * @param logarithmic then both values are more than 0
 */
record Axis(double low, double high, double from, double to, boolean logarithmic) {
  private static final int TICKS_MIN = 3;

  /** From 0 to a little more than the highest value. */
  static Axis linear(double highest, double from, double to) {
    double high = highest > 0 ? highest : 1;
    return new Axis(0, high * 1.05, from, to, false);
  }

  /** From the power of ten below the lowest value to the one above the highest. */
  static Axis logarithmic(double lowest, double highest, double from, double to) {
    double low = Math.pow(10, Math.floor(Math.log10(lowest)));
    double high = Math.pow(10, Math.ceil(Math.log10(highest)));
    return new Axis(low, high > low ? high : low * 10, from, to, true);
  }

  double at(double value) {
    double share =
        logarithmic ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    return from + share * (to - from);
  }

  /** Round numbers, rising; powers of ten on a logarithmic axis. */
  List<Double> ticks() {
    List<Double> ticks = new ArrayList<>();
    if (logarithmic) {
      for (double tick = low; tick <= high * 1.001; tick *= 10) {
        ticks.add(tick);
      }
      return ticks;
    }
    double step = Math.pow(10, Math.floor(Math.log10(high - low)));
    while ((high - low) / step < TICKS_MIN) {
      step /= 2;
    }
    for (double tick = low; tick <= high; tick += step) {
      ticks.add(tick);
    }
    return ticks;
  }

  /** A value as a label, with a letter for thousands and millions. */
  static String name(double value) {
    if (value >= 1e6) {
      return number(value / 1e6) + " M";
    }
    return value >= 1e4 ? number(value / 1e3) + " k" : number(value);
  }

  private static String number(double value) {
    return value == Math.rint(value)
        ? String.format(Locale.ROOT, "%.0f", value)
        : String.format(Locale.ROOT, value < 1 ? "%.2f" : "%.1f", value);
  }
}
