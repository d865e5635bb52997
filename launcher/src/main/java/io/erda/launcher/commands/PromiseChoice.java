package io.erda.launcher.commands;

import io.erda.protocol.Promise;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * The promises that can be chosen. {@link Promise#ATOMIC} can't be chosen: a store has it exactly
 * if its puts announce first.
 */
final class PromiseChoice implements ITypeConverter<Promise>, Iterable<String> {
  private static final List<String> NAMES = List.of("process", "power");

  @Override
  public Promise convert(String text) {
    String name = text.toLowerCase(Locale.ROOT);
    if (!NAMES.contains(name)) {
      throw new TypeConversionException("it is process or power, not '" + text + "'");
    }
    return Promise.valueOf(name.toUpperCase(Locale.ROOT));
  }

  @Override
  public Iterator<String> iterator() {
    return NAMES.iterator();
  }
}
