package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the amount of memory that is computed from the kernel's files. */
final class AvailableMemoryTest {
  private static final long TOTAL = 8_000_000L * 1024;

  @TempDir private Path root;

  private void says(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  private long found() {
    return AvailableMemory.find(root.resolve("proc"), root.resolve("sys"));
  }

  @BeforeEach
  void machine() throws IOException {
    says("proc/meminfo", "MemTotal:        8000000 kB\nMemFree:  17 kB\n");
  }

  @Test
  void whatTheMachineHas() throws IOException {
    assertEquals(TOTAL, found());
    says("proc/self/cgroup", "0::/user.slice\n");
    says("sys/fs/cgroup/user.slice/memory.max", "max\n");
    assertEquals(TOTAL, found());
  }

  @Test
  void theLeastOfTheGroupsAroundUs() throws IOException {
    says("proc/self/cgroup", "0::/a/b\n");
    says("sys/fs/cgroup/a/b/memory.max", "4096000\n");
    assertEquals(4_096_000, found());
    says("sys/fs/cgroup/a/memory.max", "2048000\n");
    assertEquals(2_048_000, found());
    says("sys/fs/cgroup/a/b/memory.high", "1024000\n");
    assertEquals(1_024_000, found());
  }

  /** A container's own group is mounted, whatever it is called outside. */
  @Test
  void aContainersOwnGroup() throws IOException {
    says("proc/self/cgroup", "0::/../../docker/123\n");
    says("sys/fs/cgroup/memory.max", "1024000\n");
    assertEquals(1_024_000, found(), "a path that leads out of what is mounted");
    says("proc/self/cgroup", "0::/docker/123\n");
    assertEquals(1_024_000, found());
  }

  @Test
  void version1() throws IOException {
    says("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/a\n0::/\n");
    says("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assertEquals(TOTAL, found());
    says("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "512000\n");
    assertEquals(512_000, found());
  }

  @Test
  void nothingIsSaid() throws IOException {
    says("proc/meminfo", "MemTotal: much\n");
    assertEquals(Long.MAX_VALUE, found());
    assertTrue(AvailableMemory.bytes() > 0);
  }
}
