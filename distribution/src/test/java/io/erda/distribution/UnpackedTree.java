package io.erda.distribution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A distribution, unpacked, whose commands run in an environment with nothing in it. */
final class UnpackedTree {
  private static final long MINUTES_MAX = 2;

  private final Path root;
  private final Path scratch;

  /** How a command ended. */
  record Ended(int exitCode, String out, String err) {}

  private UnpackedTree(Path root, Path scratch) {
    this.root = root;
    this.scratch = scratch;
  }

  /**
   * @param into an empty directory
   * @param scratch where output goes; commands run there, too
   */
  static UnpackedTree of(Path archive, Path into, Path scratch)
      throws IOException, InterruptedException {
    Process tar =
        new ProcessBuilder("tar", "-xzf", archive.toString(), "-C", into.toString())
            .inheritIO()
            .start();
    assertEquals(0, tar.waitFor());
    try (Stream<Path> roots = Files.list(into)) {
      List<Path> all = roots.toList();
      assertEquals(1, all.size(), all::toString);
      return new UnpackedTree(all.getFirst(), scratch);
    }
  }

  Path resolve(String path) {
    return root.resolve(path);
  }

  /** Starts {@code bin/erda}; its output goes to files. */
  Process start(Map<String, String> environment, String... arguments) throws IOException {
    return start(root.resolve("bin/erda"), environment, arguments);
  }

  /** Starts a command by another name. */
  Process start(Path command, Map<String, String> environment, String... arguments)
      throws IOException {
    List<String> line = new ArrayList<>(List.of(command.toString()));
    line.addAll(List.of(arguments));
    ProcessBuilder builder =
        new ProcessBuilder(line)
            .directory(scratch.toFile())
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(Files.createTempFile(scratch, "out", null).toFile())
            .redirectError(Files.createTempFile(scratch, "err", null).toFile());
    builder.environment().clear();
    builder.environment().put("PATH", "/usr/bin:/bin");
    builder.environment().putAll(environment);
    Process process = builder.start();
    outputs.put(
        process.pid(),
        List.of(builder.redirectOutput().file().toPath(), builder.redirectError().file().toPath()));
    return process;
  }

  private final Map<Long, List<Path>> outputs = new TreeMap<>();

  Ended run(Map<String, String> environment, String... arguments)
      throws IOException, InterruptedException {
    return end(start(environment, arguments));
  }

  /** Waits for a process to end. */
  Ended end(Process process) throws IOException, InterruptedException {
    try {
      boolean ended = process.waitFor(MINUTES_MAX, TimeUnit.MINUTES);
      assertTrue(ended, () -> "still runs: " + process.info() + said(process));
      return new Ended(process.exitValue(), text(process, 0), text(process, 1));
    } finally {
      process.destroyForcibly();
    }
  }

  /** Waits until a process says this on standard output. */
  void await(Process process, String word) throws IOException, InterruptedException {
    long until = System.nanoTime() + TimeUnit.MINUTES.toNanos(MINUTES_MAX);
    while (!text(process, 0).contains(word)) {
      assertTrue(process.isAlive() && System.nanoTime() < until, () -> said(process));
      Thread.sleep(20);
    }
  }

  private String said(Process process) {
    try {
      return "\n" + text(process, 0) + "\n" + text(process, 1);
    } catch (IOException e) {
      return e.toString();
    }
  }

  private String text(Process process, int stream) throws IOException {
    return Files.readString(outputs.get(process.pid()).get(stream), StandardCharsets.UTF_8);
  }

  /** Every file of it, with its length and the time when it was changed. */
  Map<String, String> files() throws IOException {
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> all = Files.walk(root)) {
      for (Path file : all.toList()) {
        long length = Files.isDirectory(file) ? 0 : Files.size(file);
        files.put(root.relativize(file).toString(), length + " " + Files.getLastModifiedTime(file));
      }
    }
    return files;
  }
}
