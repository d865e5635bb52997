package io.erda.server.engine.tables;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.hashtable.VersionWord;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.Survives;
import io.erda.protocol.Result;
import io.erda.server.engine.StoreHarness;
import io.erda.server.engine.store.StoreWriter;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * An operation that finds a pending word leaves it unchanged while its put is under way, and rolls
 * it back otherwise.
 */
class PendingWordsTest {
  private static final MemorySegment KEY = MemorySegment.ofArray("key".getBytes(UTF_8));
  private static final int OFFSET = 100;

  private StoreHarness store;
  private long keyWord;
  private long entry;
  private long committed;
  private long word;

  /** A put has stored its word and was not decided. */
  @BeforeEach
  void leavePending() {
    store =
        StoreHarness.open(
            new HeapDirectory(1 << 22, Survives.POWER_FAILURE), TableGrowthTest.SMALLEST);
    store.requireOk(store.put("key", new byte[] {1}));
    keyWord = store.engine.keyWord(KEY, 0, (int) KEY.byteSize());
    entry = find();
    committed = store.engine.tables().versionWord(entry);
    word = store.engine.pending().over(committed, OFFSET);
    assertTrue(VersionWord.pending(word));
    assertTrue(store.engine.tables().storeWord(entry, keyWord, committed, word));
    store.engine.pending().stored();
  }

  @AfterEach
  void close() {
    store.close();
  }

  private long find() {
    return store.engine.find(keyWord, KEY, 0, (int) KEY.byteSize());
  }

  private StoreWriter.Erasure erase() {
    return store.writer.erase(KEY, 0, (int) KEY.byteSize());
  }

  private long wordNow() {
    return store.engine.tables().versionWord(find());
  }

  @Test
  void theCleanerLeavesALiveWord() {
    assertEquals(word, store.writer.entries().decide(entry, keyWord, word));
    assertEquals(word, wordNow());
    store.engine.pending().allDecided();
    assertEquals(VersionWord.rollback(word), store.writer.entries().decide(entry, keyWord, word));
    assertEquals(VersionWord.rollback(word), wordNow());
  }

  @Test
  void aDeleteWithoutSpaceWaitsForALiveWord() {
    assertEquals(StoreWriter.Erasure.NOT_NOW, erase());
    assertEquals(word, wordNow());
    store.engine.pending().allDecided();
    assertEquals(StoreWriter.Erasure.ERASED, erase());
    assertNull(store.get("key"));
    assertEquals(StoreWriter.Erasure.ABSENT, erase());
  }

  @Test
  void aDoublingMovesEverythingButALiveWord() {
    assertTrue(store.writer.growth().makeRoom(1));
    for (int i = 0; i < 10_000; i++) {
      store.grow();
    }
    assertTrue(store.writer.growth().working());
    assertEquals(word, wordNow());
    store.engine.pending().allDecided();
    for (int i = 0; store.writer.growth().working(); i++) {
      assertTrue(i < 10_000, "the doubling ends");
      store.grow();
    }
    assertEquals(VersionWord.rollback(word), wordNow());
    assertArrayEquals(new byte[] {1}, store.get("key"));
  }

  /** Grows until a pass over the old table found nothing but the live word. */
  private void growUntilStuck() {
    assertTrue(store.writer.growth().makeRoom(1));
    for (int i = 0; !isStuck(); i++) {
      assertTrue(i < 10_000, "the live word is in the way");
      store.grow();
    }
  }

  private boolean isStuck() {
    return store.engine.tables().resizing() != null && store.engine.tables().resizing().stuck();
  }

  /** Found by reading the code: there was room, and a put failed because the table was full. */
  @Test
  void aTableWhoseDoublingWaitsForALiveWordIsNotFull() {
    growUntilStuck();
    store.engine.tables().owe(1 << 20);
    store.requireOk(store.put("another", new byte[] {2}));
  }

  /**
   * An insertion that finds no room beside a live word asks again: it may be decided any moment.
   */
  @Test
  void noRoomBesideALiveWordIsNoFullTable() {
    growUntilStuck();
    assertEquals(Result.NOT_NOW, store.writer.insertion().refusal(1));
    store.engine.pending().allDecided();
    assertTrue(store.writer.insertion().makeRoom(1), "it goes on at once");
  }

  /** Found by reading: the doubling paused for longer each time, up to a second. */
  @Test
  void aDoublingThatMetLiveWordsDoesNotPauseWhenTheyAreDecided() {
    assertTrue(store.writer.growth().makeRoom(1));
    Tables tables = store.engine.tables();
    for (int i = 0; i < 5_000; i++) {
      // Live when the doubling comes by, and not at the end of its pass.
      store.engine.pending().allDecided();
      if (tables.resizing() != null
          && tables.resizing().progress() + StoreHarness.SLOWLY.stretchSlots()
              < tables.current().table().slots()) {
        store.engine.pending().stored();
      }
      store.grow();
    }
    assertEquals(word, wordNow());
    store.engine.pending().allDecided();
    for (int i = 0; store.writer.growth().working(); i++) {
      assertTrue(i < 50, "the doubling goes on at once");
      store.grow();
    }
  }

  @Test
  void aPutDecidesWhatIsLiveBeforeItStoresItsOwnWord() {
    store.engine.pending().allDecided();
    assertEquals(VersionWord.rollback(word), store.engine.pending().decide(entry, keyWord, word));
    store.add("key", new byte[] {2});
    store.add("key", new byte[] {3});
    for (int result : store.publish()) {
      store.requireOk(result);
    }
    assertArrayEquals(new byte[] {3}, store.get("key"));
    assertTrue(!VersionWord.pending(wordNow()));
    assertEquals(List.of(), store.findings());
  }
}
