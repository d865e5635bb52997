package io.erda.launcher;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.console.LaunchSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs lines of shell in the locale C, in which {@code erda} is this build's command line, without
 * the script's own search for a JDK.
 *
 * @param directory where the output is kept
 * @param uri of the store that the commands mean
 */
record CommandShell(Path directory, String uri) {
  /** How a line ended. */
  record Ended(int exitCode, byte[] out, String err) {}

  Ended run(String line) throws IOException, InterruptedException {
    return run(line, List.of());
  }

  /**
   * @param starter what starts the JVM of each command, with its arguments
   */
  Ended run(String line, List<String> starter) throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(starter);
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.addAll(LaunchSettings.load().jvmFlags());
    words.addAll(List.of("-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path")));
    StringBuilder erda = new StringBuilder("erda() {");
    words.forEach(word -> erda.append(" '").append(word).append('\''));
    erda.append(" io.erda.launcher.Main \"$@\"; }\n");
    Path out = directory.resolve("out");
    Path err = directory.resolve("err");
    ProcessBuilder builder = new ProcessBuilder("sh", "-c", erda + line);
    builder.environment().keySet().removeIf(name -> name.startsWith("LC_") || name.equals("LANG"));
    builder.environment().put("LC_ALL", "C");
    builder.environment().put("ERDA_URI", uri);
    Process process = builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
    boolean ended = process.waitFor(2, TimeUnit.MINUTES);
    if (!ended) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
    assertTrue(ended, line);
    return new Ended(
        process.exitValue(),
        Files.readAllBytes(out),
        new String(Files.readAllBytes(err), ISO_8859_1));
  }

  /** Asserts that a command failed with one line that states the reason. */
  static void assertOneLine(Ended ended, int exitCode, String part) {
    assertEquals(exitCode, ended.exitCode(), ended.err());
    assertEquals(1, ended.err().lines().count(), ended.err());
    assertTrue(ended.err().startsWith("erda: ") && ended.err().contains(part), ended.err());
  }
}
