package io.erda.testbed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.erda.pmem.OutOfSpaceException;
import io.erda.pmem.PersistentMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import org.junit.jupiter.api.Test;

final class DeviceDirectoryTest {
  private static final int BYTES = 100_000;

  private final MemorySegment device = Arena.ofAuto().allocate(BYTES, 4096);
  private final DeviceDirectory directory = new DeviceDirectory(device);

  @Test
  void whatWasStoredIsThereWhenItIsOpenedAgain() throws IOException {
    directory.create("a", 5000).putLongRelease(4992, 7);
    directory.create("b", 8).putLongRelease(0, 8);
    directory.rename("b", "c");

    DeviceDirectory again = new DeviceDirectory(device);
    assertEquals(List.of("a", "c"), again.names());
    assertEquals(5000, again.open("a").segment().byteSize());
    assertEquals(7, word(again.open("a"), 4992));
    assertEquals(8, word(again.open("c"), 0));
    assertThrows(NoSuchFileException.class, () -> again.open("b"));
    assertThrows(FileAlreadyExistsException.class, () -> again.create("a", 8));
  }

  @Test
  void aChangeTakesEffectWithItsLastWord() throws IOException {
    directory.create("a", 8).putLongRelease(0, 7);
    long turn = device.get(ValueLayout.JAVA_LONG, 0);
    directory.rename("a", "b");
    assertEquals(List.of("b"), new DeviceDirectory(device).names());

    device.set(ValueLayout.JAVA_LONG, 0, turn);
    DeviceDirectory before = new DeviceDirectory(device);
    assertEquals(List.of("a"), before.names());
    assertEquals(7, word(before.open("a"), 0));
  }

  @Test
  void bytesAreUsedAgainWhenNobodyHasThem() throws IOException {
    PersistentMemory all = directory.create("a", 60_000);
    all.putLongRelease(0, 7);
    directory.delete("a");
    assertThrows(OutOfSpaceException.class, () -> directory.create("b", 60_000));
    assertEquals(7, word(all, 0));
    all.close();
    assertEquals(0, word(directory.create("b", 60_000), 0));
  }

  private static long word(PersistentMemory memory, long at) {
    return memory.segment().get(ValueLayout.JAVA_LONG, at);
  }
}
