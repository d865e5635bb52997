package io.erda.launcher.doctor;

import java.util.Locale;

/** Bytes in words. */
final class ByteText {
  private static final String[] UNITS = {"bytes", "KiB", "MiB", "GiB", "TiB"};

  static String of(long bytes) {
    int unit = 0;
    double amount = bytes;
    while (amount >= 1024 && unit < UNITS.length - 1) {
      amount /= 1024;
      unit++;
    }
    return unit == 0
        ? bytes + " bytes"
        : String.format(Locale.ROOT, "%.1f %s", amount, UNITS[unit]).replace(".0 ", " ");
  }

  private ByteText() {}
}
