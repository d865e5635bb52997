package io.erda.console;

import java.util.Locale;

/** Numbers in a readable form, the same in every locale. */
public final class Numbers {
  /** A count with separators between thousands. */
  public static String count(double number) {
    return String.format(Locale.ROOT, "%,.0f", number);
  }

  /** Nanoseconds, in a unit that shows three digits. */
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

  private Numbers() {}
}
