package io.erda.launcher.commands;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What standard output leads to. */
final class StandardOutput {
  /**
   * Whether somebody reads it on a terminal. Asked of the kernel: the JDK tells it only together
   * with standard input.
   */
  static boolean isTerminal() {
    return leadsToTerminal(1);
  }

  /** The same for standard error. */
  static boolean errorIsTerminal() {
    return leadsToTerminal(2);
  }

  private static boolean leadsToTerminal(int descriptor) {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
      return target.startsWith("/dev/pts/")
          || target.startsWith("/dev/tty")
          || target.equals("/dev/console");
    } catch (IOException e) {
      return false;
    }
  }

  private StandardOutput() {}
}
