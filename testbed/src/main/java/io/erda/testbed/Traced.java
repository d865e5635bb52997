package io.erda.testbed;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A process of a program of Erda, under strace if a call of it must fail. Its output goes to files
 * in its working directory. Owns the process.
 */
final class Traced implements AutoCloseable {
  private final String name;
  private final Path directory;
  private final Process process;
  private final boolean traced;

  private Traced(String name, Path directory, Process process, boolean traced) {
    this.name = name;
    this.directory = directory;
    this.process = process;
    this.traced = traced;
  }

  /**
   * Starts the program.
   *
   * @param tracing the arguments for strace; empty: the program runs without it
   */
  static Traced start(String name, Path directory, List<String> tracing, List<String> command)
      throws IOException {
    List<String> words = new ArrayList<>();
    if (!tracing.isEmpty()) {
      words.addAll(strace(name, directory, tracing));
      // This is faster, but strace 6.1 sends no signal then.
      if (!tracing.contains(FailingCall.OF_A_KILL)) {
        words.add("--seccomp-bpf");
      }
    }
    words.addAll(command);
    return run(name, directory, words, !tracing.isEmpty());
  }

  /** Traces a running process from now on, until this is closed. */
  static Traced attach(String name, Path directory, List<String> tracing, long process)
      throws IOException {
    List<String> words = strace(name, directory, tracing);
    words.addAll(List.of("-p", Long.toString(process)));
    Traced attached = run(name, directory, words, false);
    attached.awaitSaid(attached.directory.resolve(name + ".err"), "attached", 10);
    return attached;
  }

  private static List<String> strace(String name, Path directory, List<String> tracing) {
    List<String> words =
        new ArrayList<>(
            List.of("strace", "-f", "-o", directory.resolve(name + ".strace").toString()));
    words.addAll(tracing);
    return words;
  }

  private static Traced run(String name, Path directory, List<String> words, boolean traced)
      throws IOException {
    Process process =
        new ProcessBuilder(words)
            .directory(directory.toFile())
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
            .redirectOutput(directory.resolve(name + ".out").toFile())
            .redirectError(directory.resolve(name + ".err").toFile())
            .start();
    return new Traced(name, directory, process, traced);
  }

  /**
   * Waits until a file contains a word, or the process has ended; returns whether it contains the
   * word.
   */
  private boolean awaitSaid(Path file, String word, int seconds) throws IOException {
    for (int i = 0; i < seconds * 50; i++) {
      if (Files.exists(file) && Files.readString(file).contains(word)) {
        return true;
      }
      if (!process.isAlive()) {
        return Files.exists(file) && Files.readString(file).contains(word);
      }
      pause();
    }
    return false;
  }

  /** Waits until a word appears on standard output. */
  boolean awaitSaid(String word, int seconds) throws IOException {
    return awaitSaid(directory.resolve(name + ".out"), word, seconds);
  }

  /** Waits until a word appears on standard error. */
  boolean awaitErr(String word, int seconds) throws IOException {
    return awaitSaid(directory.resolve(name + ".err"), word, seconds);
  }

  private static void pause() {
    try {
      Thread.sleep(20);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** The program's own process: strace's child, if there is a strace. */
  ProcessHandle program() {
    return traced ? process.children().findFirst().orElse(process.toHandle()) : process.toHandle();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Waits for its end; returns false when it does not end in time. */
  boolean awaitEnd(int seconds) {
    try {
      return process.waitFor(seconds, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  int exitCode() {
    return process.exitValue();
  }

  String out() throws IOException {
    return read(".out");
  }

  String err() throws IOException {
    return read(".err");
  }

  /** The trace by strace. */
  String trace() throws IOException {
    return read(".strace");
  }

  private String read(String suffix) throws IOException {
    Path file = directory.resolve(name + suffix);
    return Files.exists(file) ? new String(Files.readAllBytes(file), StandardCharsets.UTF_8) : "";
  }

  /** The stacks of its threads, for finding out why it does not end. */
  String threads() throws IOException {
    program().pid();
    int before = out().length();
    new ProcessBuilder("kill", "-QUIT", Long.toString(program().pid())).start();
    for (int i = 0; i < 50; i++) {
      pause();
    }
    String all = out();
    return all.substring(Math.min(before, all.length()))
        .lines()
        .filter(line -> line.startsWith("\"") || line.contains("io.erda"))
        .limit(40)
        .reduce("", (a, b) -> a + "\n      " + b);
  }

  /** Ends it with SIGTERM, as a service manager does. */
  void terminate() {
    if (traced) {
      program().destroy();
    } else {
      process.destroy();
    }
  }

  void kill() {
    program().destroyForcibly();
    process.destroyForcibly();
    awaitEnd(10);
  }

  @Override
  public void close() {
    if (process.isAlive()) {
      kill();
    }
  }

  @Override
  public String toString() {
    return name + " " + Arrays.toString(new Object[] {process.pid()});
  }
}
