package io.erda.launcher.commands;

import io.erda.protocol.Promise;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * The promises that a server can be asked for. {@link Promise#ATOMIC} is none: it is what a store
 * has whose puts announce, and no other has it.
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
