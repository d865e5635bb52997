package io.erda.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.pmem.ReadAhead;
import io.erda.rdma.rings.QueueLayout;
import io.erda.rdma.rings.RegistryLayout;
import io.erda.rdma.shm.ShmDirectory;
import io.erda.rdma.shm.ShmRegistry;
import io.erda.rdma.shm.ShmRegistryView;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A requester maps regions that don't fit into memory: the kernel reads none of them ahead. */
class ReadAloneTest {
  private static final int REGIONS = 3;
  private static final int BYTES = 8192;

  @TempDir private Path directory;

  @Test
  void regionsAreReadAloneWhereTheyDoNotFit() throws IOException {
    Path served = Files.createDirectory(directory.resolve("served"));
    register(served.resolve(ShmRegistry.FILE));
    try (Arena arena = Arena.ofShared();
        ShmDirectory shm = ShmDirectory.open(served);
        ShmRegistryView view =
            ShmRegistryView.open(
                shm, 1, Files.getOwner(served), arena, new ReadAhead((REGIONS - 1) * BYTES))) {
      for (int i = 0; i < REGIONS; i++) {
        assertEquals(0, readAlone());
        view.reach(RegistryLayout.key(2, i), i % 2 == 0);
      }
      assertEquals(REGIONS, readAlone());
    }
  }

  private void register(Path registry) throws IOException {
    try (Arena arena = Arena.ofConfined();
        FileChannel channel =
            FileChannel.open(
                registry,
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
      MemorySegment bytes =
          channel.map(FileChannel.MapMode.READ_WRITE, 0, RegistryLayout.BYTES, arena);
      bytes.set(QueueLayout.LONG, RegistryLayout.MAGIC_OFFSET, RegistryLayout.MAGIC);
      bytes.set(QueueLayout.INT, RegistryLayout.VERSION_OFFSET, RegistryLayout.VERSION);
      bytes.set(QueueLayout.INT, RegistryLayout.SLOTS_OFFSET, RegistryLayout.SLOTS);
      bytes.set(QueueLayout.LONG, RegistryLayout.ID_OFFSET, 1);
      for (int i = 0; i < REGIONS; i++) {
        String name = "region-" + i;
        Path file = Files.write(directory.resolve(name), new byte[BYTES]);
        ShmRegistry.writeSlot(
            bytes,
            i,
            0,
            BYTES,
            ShmFixture.inode(file),
            Access.REMOTE_READ | Access.REMOTE_WRITE,
            name.getBytes(StandardCharsets.UTF_8),
            RegistryLayout.key(2, i));
      }
    }
  }

  /** How many mappings of regions the kernel reads no page ahead of. */
  private static int readAlone() throws IOException {
    int count = 0;
    boolean region = false;
    for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
      if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
        region = line.contains("/region-");
      } else if (region && line.startsWith("VmFlags:") && (line + " ").contains(" rr ")) {
        count++;
      }
    }
    return count;
  }
}
