package io.erda.server;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files for tests lie on a disk, or in memory, where no store promises power. */
final class Disk {
  private Disk() {}

  /** Skips the test where these files are in memory. */
  static void assumeHolds(Path directory) {
    assumeTrue(holds(directory), "files for tests are in memory here");
  }

  /** Whether a directory that exists is on another file system than tmpfs. */
  static boolean holds(Path directory) {
    try {
      return !Files.getFileStore(directory).type().equals("tmpfs");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
