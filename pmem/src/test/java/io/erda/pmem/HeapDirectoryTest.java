package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class HeapDirectoryTest extends MemoryDirectoryContract {
  private final HeapDirectory all = new HeapDirectory(1 << 23, Survives.PROCESS_CRASH);

  @Override
  protected MemoryDirectory openDirectory() {
    return all.anotherView();
  }

  @Test
  void isFullAtItsCapacity() throws Exception {
    HeapDirectory directory = new HeapDirectory(100, Survives.PROCESS_CRASH);
    directory.create("a", 60);
    assertThrows(OutOfSpaceException.class, () -> directory.create("b", 41));
    directory.create("b", 40);
    directory.rename("a", "b");
    directory.create("c", 40);
    assertEquals(List.of("b", "c"), directory.names());
    directory.delete("b");
    directory.delete("b");
    directory.create("d", 60);
    assertThrows(OutOfSpaceException.class, () -> directory.create("e", 1));
  }

  @Test
  void claimsWhatItIsTold() throws Exception {
    PersistentMemory weak = new HeapDirectory().create("m", 8);
    assertEquals(Survives.PROCESS_CRASH, weak.survives());
    assertFalse(weak.visibleBeforeDurable());
    HeapDirectory claiming = new HeapDirectory(100, Survives.POWER_FAILURE);
    assertEquals(Survives.POWER_FAILURE, claiming.survives());
    assertTrue(claiming.create("m", 8).visibleBeforeDurable());
  }

  /** The bytes live as long as the segment, not as long as the object that opened it. */
  @Test
  void bytesLiveAsLongAsTheirSegment() throws Exception {
    HeapDirectory directory = new HeapDirectory();
    MemorySegment segment = directory.create("m", 1 << 16).segment();
    SegmentMemory.LONG.setRelease(segment, 0L, 42L);
    directory.delete("m");
    List<MemorySegment> others = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      System.gc();
      others.add(new HeapDirectory().create("other", 1 << 16).segment().fill((byte) -1));
    }
    assertEquals(42, (long) SegmentMemory.LONG.getAcquire(segment, 0L));
  }
}
