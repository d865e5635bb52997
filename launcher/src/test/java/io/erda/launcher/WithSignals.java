package io.erda.launcher;

import java.util.ArrayList;
import java.util.List;

/**
 * Processes that signals end. A process that a shell starts in the background ignores SIGINT, and
 * so do all processes that it starts, including a JVM. Tests need processes without this effect of
 * the shell.
 */
final class WithSignals {
  private WithSignals() {}

  /** The command, with SIGINT as a terminal's programs have it. */
  static List<String> unignored(List<String> command) {
    List<String> all = new ArrayList<>(List.of("env", "--default-signal=INT"));
    all.addAll(command);
    return all;
  }
}
