package io.erda.launcher.commands;

import io.erda.console.UserError;
import java.util.List;
import java.util.stream.Collectors;

/** How a command ends that was asked for keys which have no value. */
final class Absent {
  /** Neither failure nor wrong usage, so that a script can tell them apart. */
  static final int EXIT_CODE = 3;

  /** Throws unless there is none of them. */
  static void requireNone(List<byte[]> keys) {
    if (!keys.isEmpty()) {
      String named = keys.stream().map(ExactText::printable).collect(Collectors.joining(", "));
      throw new UserError("no such key" + (keys.size() == 1 ? ": " : "s: ") + named, EXIT_CODE);
    }
  }

  private Absent() {}
}
