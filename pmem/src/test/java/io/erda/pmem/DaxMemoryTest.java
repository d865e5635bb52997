package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Over an ordinary mapping: what differs on persistent memory is only how the JDK forces a range.
 */
final class DaxMemoryTest extends PersistentMemoryContract {
  @TempDir Path files;

  @Override
  protected PersistentMemory newMemory(long length) throws Exception {
    Path file = Files.createTempFile(files, "dax", "");
    Arena arena = Arena.ofShared();
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return new DaxMemory(
          channel.map(MapMode.READ_WRITE, 0, length, arena), arena, new Backing(file, 0, length));
    }
  }

  @Test
  void survivesPowerFailureOnceDrained() throws Exception {
    try (PersistentMemory memory = newMemory(64)) {
      assertEquals(Survives.POWER_FAILURE, memory.survives());
      assertTrue(memory.visibleBeforeDurable());
    }
  }
}
