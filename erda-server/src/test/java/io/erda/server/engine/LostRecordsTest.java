package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.HeapDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.ErdaException;
import io.erda.server.engine.files.StoreFiles;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A file that no record names is removed by an opening, where a crash can have left it. One that
 * holds what was acknowledged can't have been left by a crash: the record got lost, and the file
 * stays.
 */
class LostRecordsTest {
  private static final int KEYS = 60;

  private final HeapDirectory disk = new HeapDirectory();

  private static byte[] value(int i) {
    return new byte[20 + i];
  }

  private byte[] bytes(String name) throws IOException {
    try (PersistentMemory memory = disk.anotherView().open(name)) {
      return memory.segment().toArray(ValueLayout.JAVA_BYTE);
    }
  }

  private void store(String name, long at, byte[] bytes) throws IOException {
    try (PersistentMemory memory = disk.anotherView().open(name)) {
      memory.put(at, MemorySegment.ofArray(bytes), 0, bytes.length);
    }
  }

  private String refusal() {
    return assertThrows(ErdaException.Damaged.class, () -> StoreHarness.open(disk.anotherView()))
        .getMessage();
  }

  private void assertHoldsEverything() {
    StoreHarness store = StoreHarness.open(disk.anotherView());
    for (int i = 0; i < KEYS; i++) {
      assertArrayEquals(value(i), store.get("key" + i), "key" + i);
    }
  }

  /** An older superblock knows nothing of the table that entries were moved to. */
  @Test
  void theTableOfADoublingIsNotRemoved() throws IOException {
    StoreHarness store = StoreHarness.open(disk);
    byte[] before = bytes(StoreFiles.SUPERBLOCK);
    int i = 0;
    while (store.engine.tables().next() == null || i < KEYS) {
      store.requireOk(store.put("key" + i, value(i)));
      i++;
    }
    List<String> names = disk.names();
    byte[] now = bytes(StoreFiles.SUPERBLOCK);
    store(StoreFiles.SUPERBLOCK, 0, before);
    String message = refusal();
    assertTrue(
        message.contains("holds entries, and superblock does not name it")
            || message.contains("missing"),
        message);
    assertTrue(disk.names().containsAll(names), () -> disk.names() + " of " + names);
    store(StoreFiles.SUPERBLOCK, 0, now);
    assertHoldsEverything();
  }

  /** The client that had a region's first place died before it wrote, and others wrote behind. */
  @Test
  void aRegionWithAnEmptyFirstPlaceIsNotRemoved() throws IOException {
    StoreHarness store = StoreHarness.open(disk);
    for (int head = 0; head < 2; head++) {
      store.engine.log().lease(head, 100, 100);
    }
    for (int i = 0; i < KEYS; i++) {
      store.requireOk(store.put("key" + i, value(i)));
    }
    byte[] regions = bytes("regions");
    List<String> names = disk.names();
    store("regions", 4096, new byte[8]);
    String message = refusal();
    assertTrue(message.contains("no record of the region table names it"), message);
    assertTrue(disk.names().containsAll(names), () -> disk.names() + " of " + names);
    store("regions", 0, regions);
    assertHoldsEverything();
  }
}
