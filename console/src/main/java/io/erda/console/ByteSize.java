package io.erda.console;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A number of bytes on the command line: a number, optionally followed by K, M, G or T for powers
 * of 1024; fractions must result in whole bytes.
 */
public final class ByteSize implements ITypeConverter<Long> {
  private static final String UNITS = "KMGT";

  /** No exponent, and no more digits than a size can need. */
  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,19}(\\.[0-9]{1,12})?");

  @Override
  public Long convert(String text) {
    String number = text.strip().toUpperCase(Locale.ROOT).replaceFirst("I?B$", "");
    int shift = 0;
    if (!number.isEmpty() && UNITS.indexOf(number.charAt(number.length() - 1)) >= 0) {
      shift = 10 * (UNITS.indexOf(number.charAt(number.length() - 1)) + 1);
      number = number.substring(0, number.length() - 1);
    }
    try {
      if (NUMBER.matcher(number).matches()) {
        return new BigDecimal(number).multiply(BigDecimal.valueOf(1L << shift)).longValueExact();
      }
    } catch (ArithmeticException e) {
      // It has a fraction of a byte, or is too large.
    }
    throw new TypeConversionException("'" + text + "' is no size, for example 512, 64K, 1.5M, 1G");
  }
}
