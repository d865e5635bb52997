package io.erda.launcher.commands;

import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A number of bytes on the command line: digits, with K, M, G or T behind for powers of 1024. */
final class ByteSize implements ITypeConverter<Long> {
  private static final String UNITS = "KMGT";

  @Override
  public Long convert(String text) {
    String number = text.strip().toUpperCase(Locale.ROOT).replaceFirst("I?B$", "");
    int shift = 0;
    if (!number.isEmpty() && UNITS.indexOf(number.charAt(number.length() - 1)) >= 0) {
      shift = 10 * (UNITS.indexOf(number.charAt(number.length() - 1)) + 1);
      number = number.substring(0, number.length() - 1);
    }
    try {
      return Math.multiplyExact(Long.parseUnsignedLong(number), 1L << shift);
    } catch (ArithmeticException | NumberFormatException e) {
      throw new TypeConversionException("'" + text + "' is no size, for example 512, 64K, 8M, 1G");
    }
  }
}
