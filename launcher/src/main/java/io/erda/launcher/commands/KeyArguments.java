package io.erda.launcher.commands;

import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** The keys that a command is for, and how they are written. */
final class KeyArguments {
  @Mixin private ByteForm form;
  @Mixin private KeyFile keyFile;

  @Parameters(paramLabel = "KEY", arity = "0..*", description = "The keys, byte for byte.")
  private List<String> arguments = List.of();

  /** Keys that are written literally. */
  static KeyArguments of(List<String> keys) {
    KeyArguments arguments = new KeyArguments();
    arguments.form = new ByteForm();
    arguments.keyFile = new KeyFile();
    arguments.arguments = keys;
    return arguments;
  }

  /** Returns the keys; there is at least one. */
  List<byte[]> keys() throws IOException {
    return keyFile.keys(arguments, form);
  }

  ByteForm form() {
    return form;
  }
}
