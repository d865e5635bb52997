package io.erda.eval.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Programs of others that are installed on this machine, or are not. */
public final class Programs {
  private static final Pattern VERSION = Pattern.compile("\\d+(\\.\\d+)+");

  /** Where a program is that a shell would find by this name. */
  public static Optional<Path> find(String name) {
    return Arrays.stream(System.getenv().getOrDefault("PATH", "/usr/bin").split(":"))
        .filter(directory -> !directory.isEmpty())
        .map(directory -> Path.of(directory, name))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /**
   * The same of one that must be there.
   *
   * @throws ProcessException when it isn't, with what installs it
   */
  public static Path require(String name) {
    return find(name).orElseThrow(() -> new ProcessException(missing(name)));
  }

  /** The line for a program that is not there. */
  public static String missing(String name) {
    return name + " is not installed: apt-get install " + name;
  }

  /** What it says with {@code --version}; empty when it says no number. */
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
