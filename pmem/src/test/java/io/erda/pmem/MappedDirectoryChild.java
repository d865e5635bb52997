package io.erda.pmem;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Another process that uses a directory: what it does is its first argument, the directory its
 * second.
 */
final class MappedDirectoryChild {
  private MappedDirectoryChild() {}

  public static void main(String[] arguments) throws Exception {
    Path path = Path.of(arguments[1]);
    switch (arguments[0]) {
      case "lock" -> lock(path);
      case "store" -> store(path);
      case "overfill" -> overfill(path);
      case "use-inodes" -> useInodes(path);
      case "fill-hole" -> fillHole(path);
      case "swap" -> swap(path);
      default -> throw new IllegalArgumentException(arguments[0]);
    }
  }

  /** Reports whether it got the lock, and keeps the lock until it is told to end or is killed. */
  private static void lock(Path path) throws IOException {
    try (MappedDirectory directory = MappedDirectory.open(path)) {
      say("locked " + directory.lock());
      System.in.read();
    }
  }

  /** Stores, drains, and waits to be killed. */
  private static void store(Path path) throws IOException {
    try (MappedDirectory directory = MappedDirectory.open(path)) {
      PersistentMemory memory = directory.create("m", 1 << 20);
      for (long at = 0; at < 1 << 20; at += 8) {
        memory.putLongRelease(at, at + 1);
      }
      memory.flush(0, 1 << 20);
      memory.drain();
      say("stored");
      System.in.read();
    }
  }

  private static void overfill(Path path) throws IOException {
    try (MappedDirectory directory = MappedDirectory.open(path)) {
      directory.create("small", 64 << 10).putLongRelease(0, 1);
      try {
        directory.create("large", 64 << 20);
        say("created");
      } catch (OutOfSpaceException e) {
        say("out of space: " + e.getMessage());
      }
      try {
        MappedFile.createNamed(directory.opened(), "named", 64 << 20, MappedFile.Kind.PAGE_CACHE);
        say("created");
      } catch (OutOfSpaceException e) {
        say("out of space: " + e.getMessage());
      }
      say("names " + directory.names());
    }
  }

  /** Until there are none; then opens what is there. */
  private static void useInodes(Path path) throws IOException {
    try (MappedDirectory directory = MappedDirectory.open(path)) {
      for (int i = 0; i < 100; i++) {
        directory.create("m" + i, 8).close();
      }
      say("created");
    } catch (OutOfSpaceException e) {
      say("out of space: " + e.getMessage());
    }
    try (MappedDirectory directory = MappedDirectory.open(path)) {
      directory.open("m0").putLongRelease(0, 1);
      say("names " + directory.names());
    }
  }

  private static void fillHole(Path path) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(path.resolve("sparse").toFile(), "rw")) {
      file.setLength(64 << 20);
    }
    try (MappedDirectory directory = MappedDirectory.open(path)) {
      directory.open("sparse").putLongRelease(32 << 20, 1);
      say("opened");
    } catch (OutOfSpaceException e) {
      say("out of space: " + e.getMessage());
    }
    say("length " + Files.size(path.resolve("sparse")));
  }

  /**
   * Swaps words of a file that was shortened: in a page that is left, and in pages that are not.
   */
  private static void swap(Path path) throws IOException {
    try (MappedDirectory directory = MappedDirectory.open(path)) {
      PersistentMemory memory = directory.create("m", 1 << 20);
      try (RandomAccessFile file = new RandomAccessFile(path.resolve("m").toFile(), "rw")) {
        file.setLength(4096);
      }
      say("swapped " + memory.compareAndSetLong(8, 0, 1));
      for (int i = 0; i < 3; i++) {
        try {
          say("swapped " + memory.compareAndSetLong(1 << 19, 0, 1));
        } catch (MemoryFault e) {
          say("missing");
        }
      }
      say("swapped " + memory.compareAndSetLong(8, 1, 2));
    }
  }

  private static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }

  /** The command that starts this class. */
  static List<String> command(String what, Path directory) {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-Xmx64m",
        "-XX:TieredStopAtLevel=1",
        "-XX:-UsePerfData",
        "--enable-native-access=ALL-UNNAMED",
        "-cp",
        System.getProperty("java.class.path"),
        MappedDirectoryChild.class.getName(),
        what,
        directory.toString());
  }

  /** A started child; closing it kills it. */
  record Running(Process process, BufferedReader output) implements AutoCloseable {
    static Running start(List<String> command) throws IOException {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      return new Running(
          process,
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)));
    }

    /** All lines up to the end of the process. */
    List<String> lines() throws IOException {
      List<String> lines = new ArrayList<>();
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        lines.add(line);
      }
      return lines;
    }

    void kill() throws InterruptedException {
      process.destroyForcibly();
      if (!process.waitFor(20, TimeUnit.SECONDS)) {
        throw new AssertionError("still alive: " + process);
      }
    }

    @Override
    public void close() throws IOException {
      try (output) {
        kill();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }
  }
}
