package io.erda.server;

import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs a scenario in a separate JVM, after shell commands that mount a file system or set a limit.
 */
final class ChildJvm {
  private ChildJvm() {}

  /**
   * @param before words that the command begins with: they run what follows them
   * @param scenario the class whose {@code main} is called
   */
  static List<String> command(List<String> before, Class<?> scenario, String... arguments) {
    List<String> command = new ArrayList<>(before);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-XX:-UsePerfData",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            scenario.getName()));
    command.addAll(List.of(arguments));
    return command;
  }

  /**
   * Returns the words that run a command in a separate mount namespace.
   *
   * @param mount a shell line that mounts the file system for the command
   */
  static List<String> mounted(String mount) {
    return List.of("unshare", "--mount", "sh", "-c", mount + " && exec \"$@\"", "sh");
  }

  /** Runs a command, ends all that it started, and returns its exit code; −1 where it hangs. */
  static int run(List<String> command, Path output, int seconds) throws Exception {
    Process child =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(Redirect.to(output.toFile()))
            .start();
    try {
      return child.waitFor(seconds, TimeUnit.SECONDS) ? child.exitValue() : -1;
    } finally {
      // One that is stopped half-way leaves those behind that it has started.
      child.descendants().forEach(ProcessHandle::destroyForcibly);
      child.destroyForcibly().waitFor();
    }
  }
}
