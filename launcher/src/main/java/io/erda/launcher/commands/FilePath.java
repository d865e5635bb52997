package io.erda.launcher.commands;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The name of a file or directory on the command line. */
public final class FilePath implements ITypeConverter<Path> {
  @Override
  public Path convert(String text) {
    if (text.isEmpty()) {
      throw new TypeConversionException("an empty name names no file");
    }
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      byte[] bytes = ExactText.bytes(text);
      throw new TypeConversionException(
          ExactText.isUtf8(text)
              ? "the JVM can't name "
                  + ExactText.printable(bytes)
                  + " in this locale: set LC_ALL=C.UTF-8"
              : "the JVM can't name "
                  + ExactText.printable(bytes)
                  + ", which is no UTF-8, in any locale: choose another name");
    }
  }
}
