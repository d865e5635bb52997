package io.erda.server.engine.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.hashtable.Entry;
import io.erda.hashtable.HashTable;
import io.erda.hashtable.VersionWord;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.Commits;
import io.erda.protocol.Result;
import io.erda.server.engine.CrashingDirectory;
import io.erda.server.engine.FullDirectory;
import io.erda.server.engine.StoreHarness;
import io.erda.server.engine.files.CommitsFile;
import io.erda.server.engine.files.CommitsFile.Standing;
import io.erda.server.engine.files.StoreFiles;
import io.erda.server.engine.publishing.PublishRequest;
import io.erda.server.engine.tables.Tables;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A client was stopped before its swap, its server has died, and the store is opened again. */
class LateCommitsTest {
  private static final byte[] OLD = "old".getBytes(UTF_8);
  private static final byte[] LATE = "late".getBytes(UTF_8);

  private final HeapDirectory disk = new HeapDirectory();

  /** The table's memory as the stopped client has mapped it. */
  private MemorySegment mapped;

  private PersistentMemory mappedMemory;
  private MemorySegment commits;
  private long at;
  private long slot;
  private long expected;
  private long next;

  private static long keyWord(StoreHarness store, String key) {
    byte[] bytes = key.getBytes(UTF_8);
    return store.engine.keyWord(MemorySegment.ofArray(bytes), 0, bytes.length);
  }

  /** Leaves a store whose server has died beside a client that was about to make its swap. */
  private void leaveAStoppedClient() throws IOException {
    StoreHarness store = StoreHarness.open(disk);
    for (int i = 0; i < 6; i++) {
      store.requireOk(store.put("key" + i, OLD));
    }
    long keyWord = keyWord(store, "key3");
    slot = Tables.slot(store.engine.tables().find(keyWord, (_, _) -> true));
    expected = store.engine.tables().current().table().versionWord(slot);
    PublishRequest object = store.add("key3", LATE);
    next = VersionWord.update(expected, object.offset, false);
    at = HashTable.entriesOffset() + slot * Entry.BYTES + Entry.VERSION_WORD_OFFSET;
    int table = store.engine.tables().current().number();
    mappedMemory = disk.anotherView().open(StoreFiles.table(table));
    mapped = mappedMemory.segment();
    CommitsFile file = CommitsFile.create(disk);
    file.storeTurn(6);
    commits = file.memory().segment();
    assertEquals(
        6,
        Commits.stand(commits, Commits.line(5), 1, keyWord, slot, table, expected, object.offset));
  }

  /** The client goes on. Returns whether it believes that its put is done. */
  private boolean goesOn() {
    boolean swapped = mappedMemory.compareAndSetLong(at, expected, next);
    Commits.clear(commits, Commits.line(5));
    return swapped;
  }

  private static void requireValues(StoreHarness store, byte[] third) {
    for (int i = 0; i < 6; i++) {
      assertArrayEquals(i == 3 ? third : OLD, store.get("key" + i), "key" + i);
    }
    assertEquals(List.of(), store.findings());
  }

  @Test
  void aSwapAfterAnOpeningFails() throws IOException {
    leaveAStoppedClient();
    StoreHarness store = StoreHarness.open(disk.anotherView());
    assertEquals(2, store.engine.tables().current().number());
    assertFalse(disk.exists(StoreFiles.table(1)), "the old table is there");
    assertFalse(disk.exists(Commits.FILE));
    assertTrue(Commits.isOdd(Commits.load(commits, Commits.TURN_OFFSET)));
    assertFalse(goesOn(), "the client believes that its put is done");
    requireValues(store, OLD);
    assertTrue(store.engine.recovery().notes().toString().contains("the table was copied"));
    store.close();
    assertTrue(disk.exists(StoreFiles.STOPPED));
    requireValues(StoreHarness.open(disk.anotherView()), OLD);
  }

  /** However often the store is opened, and whatever word the entry gets in between. */
  @Test
  void aSwapAfterSeveralOpeningsFails() throws IOException {
    leaveAStoppedClient();
    for (int i = 0; i < 3; i++) {
      StoreHarness store = StoreHarness.open(disk.anotherView());
      requireValues(store, OLD);
      // The word that the client expects comes back, in the table that is in use now.
      long now = store.engine.tables().current().table().versionWord(slot);
      assertTrue(store.engine.tables().storeWord(slot, keyWord(store, "key3"), now, expected));
    }
    assertFalse(goesOn());
    requireValues(StoreHarness.open(disk.anotherView()), OLD);
  }

  @Test
  void aSwapBeforeTheOpeningIsAPut() throws IOException {
    leaveAStoppedClient();
    assertTrue(mappedMemory.compareAndSetLong(at, expected, next));
    requireValues(StoreHarness.open(disk.anotherView()), LATE);
  }

  /** The opening dies at each of its stores. The client goes on at the end, or right then. */
  @Test
  void openingsThatDieMaySwap() throws IOException {
    int deaths = 0;
    for (boolean early : new boolean[] {false, true}) {
      boolean died = true;
      for (int stores = 0; died; stores++) {
        LateCommitsTest one = new LateCommitsTest();
        one.leaveAStoppedClient();
        died = one.diesAfter(stores, early);
        deaths += died ? 1 : 0;
      }
    }
    assertTrue(deaths > 20, deaths + " deaths");
  }

  private boolean diesAfter(int stores, boolean early) {
    boolean died = false;
    try {
      StoreHarness.open(new CrashingDirectory(disk.anotherView(), stores));
    } catch (CrashingDirectory.Crash e) {
      died = true;
    }
    boolean swapped = early && goesOn();
    StoreHarness store = StoreHarness.open(disk.anotherView());
    boolean late = !early && goesOn();
    assertFalse(late, "after " + stores + " stores");
    requireValues(store, swapped ? LATE : OLD);
    return died;
  }

  @Test
  void withoutRoomTheTableIsKeptAndNobodyCommits() throws IOException {
    leaveAStoppedClient();
    FullDirectory directory = new FullDirectory(disk.anotherView());
    directory.full = true;
    StoreHarness store = StoreHarness.open(directory);
    directory.full = false;
    assertEquals(1, store.engine.tables().current().number());
    assertNull(LateCommits.newFile(store.engine), "clients commit");
    assertNotEquals(expected, mapped.get(ValueLayout.JAVA_LONG, at));
    // The entry gets no other key.
    long keyWord = keyWord(store, "key3");
    store.requireOk(store.put("key3", null));
    long word = store.engine.tables().versionWord(slot);
    assertTrue(store.engine.tables().empty(slot, keyWord, word));
    long another = 1L << 40 | slot;
    long taken = store.engine.tables().insert(another, VersionWord.first(8, false));
    assertNotEquals(slot, Tables.slot(taken), "another key");
    assertTrue(store.engine.tables().empty(taken, another, VersionWord.first(8, false)));
    for (int i = 0; i < 30; i++) {
      int result = store.put("another" + i, OLD);
      assertTrue(result == Result.OK || result == Result.NOT_NOW, Result.name(result));
    }
    for (Tables.Generation each : store.engine.tables().inUse()) {
      if (each.number() == 1) {
        assertEquals(0, each.table().versionWord(slot) & ~VersionWord.MOVED);
      }
    }
    store.close();
    assertFalse(disk.exists(StoreFiles.STOPPED), "a record of a clean stop");
    assertTrue(disk.exists(Commits.FILE));
    assertFalse(goesOn());
    StoreHarness again = StoreHarness.open(disk.anotherView());
    assertFalse(disk.exists(Commits.FILE));
    assertNull(again.get("key3"));
    again.close();
    assertTrue(disk.exists(StoreFiles.STOPPED));
  }

  /** Each stopped client expects the word that the defeat of the one before has stored. */
  @Test
  void aDefeatStoresNoWordThatAnotherClientExpects() throws IOException {
    leaveAStoppedClient();
    for (boolean two : new boolean[] {false, true}) {
      long word = VersionWord.first(64, false);
      word = two ? VersionWord.update(word, 72, false) : word;
      mappedMemory.putLongRelease(at, word);
      List<Standing> all = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        Standing one = new Standing(i, 1, 7, slot, 1, mapped.get(ValueLayout.JAVA_LONG, at), 800);
        all.add(one);
        assertTrue(LateCommits.defeat(mappedMemory, one, all));
        long now = mapped.get(ValueLayout.JAVA_LONG, at);
        assertEquals(VersionWord.newest(word), VersionWord.newest(now));
        for (Standing each : all) {
          assertNotEquals(each.expected(), now, "stopped clients: " + (i + 1));
        }
      }
    }
  }

  /** A record that no client stores does no harm. */
  @Test
  void aRecordOfNonsenseIsIgnored() throws IOException {
    leaveAStoppedClient();
    long line = Commits.line(9);
    Commits.stand(commits, line, 1, -1, -7, 1, 5, -1);
    Commits.stand(commits, Commits.line(10), 1, -1, Long.MAX_VALUE, 99, -1, -1);
    requireValues(StoreHarness.open(disk.anotherView()), OLD);
  }
}
