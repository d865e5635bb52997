package io.erda.launcher;

import java.util.ArrayList;
import java.util.List;

/**
 * Processes that signals end. Who is started in the background of a shell ignores SIGINT, and so
 * does whatever it starts, a JVM included: that is the shell's doing, and not what a test is about.
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
