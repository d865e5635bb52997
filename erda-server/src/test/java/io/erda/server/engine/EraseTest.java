package io.erda.server.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.hashtable.VersionWord;
import io.erda.pmem.HeapDirectory;
import io.erda.server.engine.store.StoreWriter;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;

final class EraseTest {
  private static final int DAMAGED_OFFSET = 100;

  /** A word that recovery left pending, because its object was damaged, once ended the server. */
  @Test
  void aKeyWhoseNewestVersionIsStillPendingIsErased() {
    StoreHarness store = StoreHarness.open(new HeapDirectory());
    store.requireOk(store.put("key", new byte[] {1}));
    leavePending(store, "key");
    assertTrue(erase(store, "key"));
    assertNull(store.get("key"));
    assertFalse(erase(store, "key"));
    assertEquals(List.of(), store.findings());
    store.close();
  }

  private static void leavePending(StoreHarness store, String key) {
    MemorySegment bytes = MemorySegment.ofArray(key.getBytes(UTF_8));
    long keyWord = store.engine.keyWord(bytes, 0, (int) bytes.byteSize());
    long slot = store.engine.find(keyWord, bytes, 0, (int) bytes.byteSize());
    long word = store.engine.tables().versionWord(slot);
    long pending = VersionWord.update(word, DAMAGED_OFFSET, true);
    assertTrue(store.engine.tables().storeWord(slot, keyWord, word, pending));
  }

  private static boolean erase(StoreHarness store, String key) {
    MemorySegment bytes = MemorySegment.ofArray(key.getBytes(UTF_8));
    return store.writer.erase(bytes, 0, (int) bytes.byteSize()) == StoreWriter.Erasure.ERASED;
  }
}
