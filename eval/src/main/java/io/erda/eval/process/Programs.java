package io.erda.eval.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Other programs that may be installed on this machine. */
public final class Programs {
  private static final Pattern VERSION = Pattern.compile("\\d+(\\.\\d+)+");

  /** The path of the program that a shell would find by this name. */
  public static Optional<Path> find(String name) {
    return Arrays.stream(System.getenv().getOrDefault("PATH", "/usr/bin").split(":"))
        .filter(directory -> !directory.isEmpty())
        .map(directory -> Path.of(directory, name))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /**
   * As {@link #find}, for a required program.
   *
   * @throws ProcessException when it is missing, with the command that installs it
   */
  public static Path require(String name) {
    return find(name).orElseThrow(() -> new ProcessException(missing(name)));
  }

  /** The message for a missing program. */
  public static String missing(String name) {
    return name + " is not installed: apt-get install " + name;
  }

  /** Its version according to {@code --version}; empty when it prints none. */
  public static Optional<String> version(Path program) {
    try {
      Process process =
          new ProcessBuilder(program.toString(), "--version").redirectErrorStream(true).start();
      process.getOutputStream().close();
      Matcher version =
          VERSION.matcher(
              new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
      return version.find() ? Optional.of(version.group()) : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private Programs() {}
}
