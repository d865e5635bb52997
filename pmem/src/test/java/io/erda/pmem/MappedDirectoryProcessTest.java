package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests that need a second process: locks, kills, and limits that would affect this process. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class MappedDirectoryProcessTest {
  private static final int STARTS = 300;

  @TempDir Path files;

  @Test
  void theLockExcludesOtherProcessesAndEndsWithItsOwner() throws Exception {
    try (MappedDirectory directory = MappedDirectory.open(files);
        var child = start("lock")) {
      assertEquals("locked true", child.output().readLine());
      assertFalse(directory.lock());
      child.kill();
      assertTrue(directory.lock());
      try (var second = start("lock")) {
        assertEquals("locked false", second.output().readLine());
      }
    }
  }

  /**
   * Between its fork and its exec a new process has a copy of each descriptor, and kept the lock of
   * a store that was closed meanwhile.
   */
  @Test
  void aProcessThatIsBeingStartedDoesNotKeepTheLock() throws Exception {
    AtomicInteger started = new AtomicInteger();
    AtomicBoolean end = new AtomicBoolean();
    Thread starter =
        Thread.ofPlatform()
            .start(() -> {
              while (!end.get()) {
                assertDoesNotThrow(() -> new ProcessBuilder("true").start().waitFor());
                started.incrementAndGet();
              }
            });
    try {
      for (int opened = 0; started.get() < STARTS; opened++) {
        try (MappedDirectory directory = MappedDirectory.open(files)) {
          assertTrue(directory.lock(), "opening " + opened);
        }
      }
    } finally {
      end.set(true);
      starter.join();
    }
  }

  @Test
  void whatWasDrainedSurvivesAKill() throws Exception {
    try (var child = start("store")) {
      assertEquals("stored", child.output().readLine());
    }
    try (MappedDirectory directory = MappedDirectory.open(files)) {
      PersistentMemory memory = directory.open("m");
      for (long at = 0; at < 1 << 20; at += 8) {
        assertEquals(at + 1, (long) SegmentMemory.LONG.getAcquire(memory.segment(), at));
      }
    }
  }

  /** The kernel answers with EFBIG and SIGXFSZ, which would end the process. */
  @Test
  void aFileSizeLimitIsOutOfSpace() throws Exception {
    assertOverfilled("ulimit -f 1024; exec \"$@\"", "File too large");
  }

  @Test
  void aFullFileSystemIsOutOfSpace() throws Exception {
    assumeTinyFileSystems();
    assertOverfilled(tinyFileSystem("size=4m"), "No space left on device");
  }

  /** Otherwise a store to the hole would end the process with SIGBUS. */
  @Test
  void aHoleThatCannotBeFilledIsOutOfSpace() throws Exception {
    assumeTinyFileSystems();
    List<String> lines = run(tinyFileSystem("size=4m"), "fill-hole");
    assertEquals(2, lines.size(), lines::toString);
    assertTrue(lines.get(0).startsWith("out of space: "), lines::toString);
    assertEquals("length " + (64 << 20), lines.get(1));
  }

  @Test
  void aStoreOpensThoughNoFileCanBeCreated() throws Exception {
    assumeTinyFileSystems();
    List<String> lines = run(tinyFileSystem("size=4m,nr_inodes=3"), "use-inodes");
    assertEquals(2, lines.size(), lines::toString);
    assertTrue(lines.get(0).startsWith("out of space: "), lines::toString);
    assertTrue(lines.get(0).contains("8 bytes were asked for"), lines::toString);
    assertEquals("names [m0, m1]", lines.get(1));
  }

  /** The interpreter, which runs the first swaps of a process, would end it with SIGBUS. */
  @Test
  void aSwapInMemoryThatIsMissingEndsNoProcess() throws Exception {
    try (var child = start("swap")) {
      assertEquals(
          List.of("swapped true", "missing", "missing", "missing", "swapped true"), child.lines());
    }
  }

  private void assertOverfilled(String limit, String reason) throws IOException {
    List<String> lines = run(limit, "overfill");
    assertEquals(3, lines.size(), lines::toString);
    for (String line : lines.subList(0, 2)) {
      assertTrue(line.startsWith("out of space: "), line);
      assertTrue(line.contains("fallocate: " + reason), line);
    }
    assertTrue(lines.get(0).contains((64 << 20) + " bytes were asked for"), lines::toString);
    assertEquals("names [small]", lines.get(2));
  }

  private String tinyFileSystem(String options) {
    return "mount -t tmpfs -o " + options + " none '" + files + "' && exec \"$@\"";
  }

  /** A mount that this process never sees and that ends with the child. */
  private void assumeTinyFileSystems() {
    try (var probe =
        MappedDirectoryChild.Running.start(namespace("mount -t tmpfs none '" + files + "'"))) {
      List<String> lines = probe.lines();
      assumeTrue(exitCode(probe.process()) == 0, () -> "no private mounts here: " + lines);
    } catch (IOException e) {
      assumeTrue(false, "no private mounts here: " + e.getMessage());
    }
  }

  private static int exitCode(Process process) throws IOException {
    try {
      return process.waitFor();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  private MappedDirectoryChild.Running start(String what) throws IOException {
    return MappedDirectoryChild.Running.start(MappedDirectoryChild.command(what, files));
  }

  /** Runs the child as the arguments of a shell command that limits it. */
  private List<String> run(String limit, String what) throws IOException {
    List<String> command = new ArrayList<>(namespace(limit));
    command.add("bash");
    command.addAll(MappedDirectoryChild.command(what, files));
    try (var child = MappedDirectoryChild.Running.start(command)) {
      return child.lines();
    }
  }

  private static List<String> namespace(String script) {
    return script.startsWith("mount")
        ? List.of("unshare", "--user", "--map-root-user", "--mount", "bash", "-c", script)
        : List.of("bash", "-c", script);
  }
}
