package io.erda.rdma.shm;

import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Whether queue files of a directory were lost, so that nobody can tell which clients of earlier
 * servers still live: somebody removed {@code shm/}, or moved the store without it. A moved store
 * has the files that such a client has mapped.
 *
 * <p>An empty file remembers it, because later openings find a registry again. Its name has the ID
 * of the host's boot, which no client outlives. A container may have another ID for the same boot,
 * so a file that is no older than the boot counts as well.
 */
final class LostQueueFiles {
  private static final String PREFIX = "lost-";

  /** Begins the line of the kernel's statistics that says when it was booted, in seconds. */
  private static final String BOOT_TIME = "btime ";

  /**
   * Looks for the traces of an earlier opening, and notes it when there are none. To be called
   * before this opening leaves traces of its own.
   *
   * @param opened whether the store was opened before, so that there must be traces
   */
  static boolean look(ShmDirectory directory, boolean opened) throws IOException {
    String ofThisBoot = PREFIX + boot();
    boolean noted = false;
    for (String name : directory.names(PREFIX)) {
      if (name.equals(ofThisBoot) || directory.changedMillis(name) >= bootMillis()) {
        noted = true;
      } else {
        directory.clear(name);
      }
    }
    boolean lost = opened && !directory.exists(ShmRegistry.FILE) && !directory.exists(Serving.HELD);
    if (lost && !noted) {
      Libc.close(directory.create(ofThisBoot));
    }
    return lost || noted;
  }

  /** The kernel's name for the host's boot; a word of ours when it does not tell. */
  private static String boot() {
    try {
      return Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
    } catch (IOException e) {
      return "unknown";
    }
  }

  /**
   * When the host's boot began, in milliseconds of the wall clock; the earliest time if unknown.
   */
  private static long bootMillis() {
    try (Stream<String> lines = Files.lines(Path.of("/proc/stat"))) {
      return lines
          .filter(line -> line.startsWith(BOOT_TIME))
          .mapToLong(line -> Long.parseLong(line.substring(BOOT_TIME.length()).strip()) * 1000)
          .findFirst()
          .orElse(Long.MIN_VALUE);
    } catch (IOException | UncheckedIOException | NumberFormatException e) {
      return Long.MIN_VALUE;
    }
  }

  private LostQueueFiles() {}
}
