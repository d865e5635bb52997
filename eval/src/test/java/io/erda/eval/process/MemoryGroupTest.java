package io.erda.eval.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Groups of processes that have little memory: real ones where this user may make them. */
@Timeout(120)
class MemoryGroupTest {
  private static final long MIB = 1 << 20;

  @TempDir private Path directory;

  private final Children children = new Children();

  @AfterEach
  void end() {
    children.close();
  }

  /** Only what is read twice, and does not fit, comes from the device again. */
  @Test
  void aFileThatDoesNotFitIsReadAgain() throws IOException {
    String type = Files.getFileStore(directory).type();
    assumeFalse(type.equals("tmpfs"), "files of a tmpfs do not leave memory");
    MemoryGroup group;
    try {
      group = MemoryGroup.make(children, 32 * MIB);
    } catch (ProcessException e) {
      abort(e.getMessage());
      return;
    }
    Path small = Files.write(directory.resolve("small"), new byte[(int) (4 * MIB)]);
    Path large = Files.write(directory.resolve("large"), new byte[(int) (96 * MIB)]);
    new PageCache(children).evict(directory);
    readTwice(group, small);
    long before = group.pagesReadAgain();
    readTwice(group, large);
    long again = group.pagesReadAgain() - before;
    assertTrue(again >= 32 * MIB / 4096, again + " pages were read again");
    assertTrue(before < 4 * MIB / 4096, before + " pages of a small file were read again");
  }

  private void readTwice(MemoryGroup group, Path file) {
    List<String> command = new ArrayList<>(group.start());
    command.addAll(List.of("cat", file.toString(), file.toString()));
    Child child = children.start("cat", command);
    assertEquals(0, child.awaitEnd(Duration.ofSeconds(60)), child::errorTail);
  }

  private MemoryGroup make(String mounts, String own) throws IOException {
    return MemoryGroup.make(
        children,
        4096,
        Files.writeString(directory.resolve("mounts"), mounts),
        Files.writeString(directory.resolve("own"), own));
  }

  /** Returns the group that was made in a directory that replaces the kernel's. */
  private static Path made(Path parent) throws IOException {
    try (Stream<Path> all = Files.list(parent)) {
      return all.filter(path -> path.getFileName().toString().startsWith("erda-eval-"))
          .findFirst()
          .orElseThrow();
    }
  }

  @Test
  void version1HasItBelowOurOwn() throws IOException {
    Path own = Files.createDirectories(directory.resolve("memory/ours"));
    make(
        "cgroup2 /none cgroup2 rw 0 0\ncgroup " + directory + "/memory cgroup rw,memory 0 0\n",
        "3:cpu:/x\n4:memory:/ours\n");
    assertEquals("4096", Files.readString(made(own).resolve("memory.limit_in_bytes")));
    Files.delete(made(own).resolve("memory.limit_in_bytes"));
    children.close();
    assertThrows(java.util.NoSuchElementException.class, () -> made(own));
  }

  @Test
  void version2HasItBesideOurOwn() throws IOException {
    Path around = Files.createDirectories(directory.resolve("group/session"));
    Path control = Files.writeString(around.resolve("cgroup.subtree_control"), "cpu\n");
    make("cgroup2 " + directory + "/group cgroup2 rw 0 0\n", "0::/session/ours.scope\n");
    assertEquals("4096", Files.readString(made(around).resolve("memory.max")));
    assertTrue(Files.readString(control).startsWith("+memory"));
    Files.delete(made(around).resolve("memory.max"));
  }

  @Test
  void whoMayNotMakeOneIsTold() throws IOException {
    ProcessException e =
        assertThrows(ProcessException.class, () -> make("tmpfs / tmpfs rw 0 0\n", ""));
    assertTrue(e.getMessage().contains("takes root"), e.getMessage());
    assertFalse(e.getMessage().contains("null"), e.getMessage());
  }
}
