package io.erda.launcher.commands;

import io.erda.console.UserError;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Option;

/**
 * The option that takes a key from a file, for keys that can't be arguments because they contain a
 * zero byte.
 */
final class KeyFile {
  /** More than any key may have; the store has its own limit. */
  private static final int BYTES_MAX = 1 << 20;

  @Option(
      names = "--key-file",
      paramLabel = "FILE",
      description = "Take the key's bytes from a file, all of them, instead of KEY.")
  private Path file;

  boolean isGiven() {
    return file != null;
  }

  /**
   * The key: the file's bytes, or those that the argument stands for.
   *
   * @param argument KEY, or null when it was left out
   */
  byte[] key(String argument, ByteForm form) throws IOException {
    return keys(argument == null ? List.of() : List.of(argument), form).getFirst();
  }

  /** The key of the file, or the keys of the arguments, at least one. */
  List<byte[]> keys(List<String> arguments, ByteForm form) throws IOException {
    if (isGiven() == !arguments.isEmpty()) {
      throw new UserError("the key: give either KEY or --key-file", 2);
    }
    return isGiven()
        ? List.of(bytes())
        : arguments.stream().map(argument -> form.bytes("the key", argument)).toList();
  }

  private byte[] bytes() throws IOException {
    if (Files.isDirectory(file)) {
      throw new UserError("--key-file is a directory: " + file, 2);
    }
    try (InputStream in = Files.newInputStream(file)) {
      return in.readNBytes(BYTES_MAX);
    }
  }
}
