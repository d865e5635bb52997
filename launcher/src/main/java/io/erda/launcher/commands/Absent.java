package io.erda.launcher.commands;

import io.erda.console.UserError;
import java.util.List;
import java.util.stream.Collectors;

/** The end of a command that was asked for keys without a value. */
final class Absent {
  /**
   * The exit code, different from those for failure and wrong usage, so that a script can tell them
   * apart.
   */
  static final int EXIT_CODE = 3;

  /** Throws unless the list is empty. */
  static void requireNone(List<byte[]> keys) {
    if (!keys.isEmpty()) {
      String named = keys.stream().map(ExactText::printable).collect(Collectors.joining(", "));
      throw new UserError("no such key" + (keys.size() == 1 ? ": " : "s: ") + named, EXIT_CODE);
    }
  }

  private Absent() {}
}
