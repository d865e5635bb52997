package io.erda.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.hashtable.VersionWord;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Message;
import io.erda.protocol.Root;
import io.erda.rdma.Opcode;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The reader's rules while the table is doubled, each met on purpose. */
class GetWhileDoublingTest {
  private final FakeStore store = new FakeStore();
  private ErdaClient erda;

  /** The remote keys of the regions that were READ since {@link #watch}. */
  private final List<Long> reads = new ArrayList<>();

  @BeforeEach
  void connect() {
    store.put("key", "value");
    store.put("other", "x");
    erda = store.client();
    assertNull(erda.get(bytes("nothing")));
  }

  @AfterEach
  void close() {
    erda.close();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private String get(String key) {
    byte[] value = erda.get(bytes(key));
    return value == null ? null : new String(value, UTF_8);
  }

  private long entry(String key) {
    return store.entryOf(bytes(key));
  }

  /** Doubling has begun, and the client knows. */
  private void doubling() {
    store.beginDoubling();
    assertNull(get("nothing"));
  }

  private void watch() {
    reads.clear();
    store.clientDevice.hook =
        (opcode, key, offset, length) -> {
          if (opcode == Opcode.READ) {
            reads.add(key);
          }
          return HookedDevice.GO;
        };
  }

  /** Runs an action once, right before a READ of the new table. */
  private void betweenTheTables(Runnable action) {
    boolean[] done = new boolean[1];
    store.clientDevice.hook =
        (opcode, key, offset, length) -> {
          if (opcode == Opcode.READ && key == store.nextKey() && !done[0]) {
            done[0] = true;
            action.run();
          }
          return HookedDevice.GO;
        };
  }

  @Test
  void costsNothingOutsideOfADoubling() {
    watch();
    assertNull(get("nothing"));
    assertEquals(List.of(store.tableKey(), store.rootKey()), reads);
    watch();
    assertEquals("value", get("key"));
    assertEquals(3, reads.size());
  }

  @Test
  void readsTheOldTableFirstThenTheNewOneThenTheRoot() {
    doubling();
    watch();
    assertNull(get("nothing"));
    assertEquals(List.of(store.tableKey(), store.nextKey(), store.rootKey()), reads);
  }

  @Test
  void findsWhatIsInEitherTable() {
    doubling();
    assertEquals("value", get("key"));
    store.copy(entry("key"));
    assertEquals("value", get("key"));
    store.setWord(entry("key"), VersionWord.MOVED);
    assertEquals("value", get("key"));
    assertEquals("x", get("other"));
  }

  /** A reader that READs the new table first misses it here: not yet there, then moved away. */
  @Test
  void findsWhatIsMovedBetweenTheTwoReads() {
    doubling();
    betweenTheTables(() -> store.move(entry("key")));
    assertEquals("value", get("key"));
    assertEquals("value", get("key"));
  }

  @Test
  void aCopyThatCountsOnlyOnceItIsMovedIsNotLookedAt() {
    doubling();
    long copy = store.copy(entry("key"));
    store.put("key", "newer");
    store.next.set(ValueLayout.JAVA_LONG, copy + 8, VersionWord.first(8, false));
    assertEquals("newer", get("key"));
  }

  @Test
  void aDeletedKeyIsAbsentWhereverItsTombstoneIs() {
    doubling();
    store.put("key", null);
    assertNull(get("key"));
    store.move(entry("key"));
    assertNull(get("key"));
  }

  @Test
  void absenceIsNotBelievedWhenTheCounterChangedBetweenTheTables() {
    doubling();
    long entry = entry("key");
    long copy = store.copy(entry);
    store.setWord(entry, VersionWord.MOVED);
    long word = store.next.get(ValueLayout.JAVA_LONG, copy + 8);
    store.next.set(ValueLayout.JAVA_LONG, copy + 8, 0);
    long before = erda.statistics().absenceRetries();
    int[] roots = {0};
    store.clientDevice.hook =
        (opcode, key, offset, length) -> {
          if (opcode == Opcode.READ && key == store.rootKey() && roots[0]++ == 0) {
            store.next.set(ValueLayout.JAVA_LONG, copy + 8, word);
            store.setRoot(Root.STRUCTURE_COUNTER_OFFSET, 2);
          }
          return HookedDevice.GO;
        };
    assertEquals("value", get("key"));
    assertEquals(before + 1, erda.statistics().absenceRetries());
  }

  @Test
  void aMapOfOneTableIsGivenUpWhenTheDoublingBegins() {
    store.beginDoubling();
    store.move(entry("key"));
    assertEquals("value", get("key"));
  }

  @Test
  void aMapOfTwoTablesIsGivenUpWhenTheOldOneIsGone() {
    doubling();
    store.move(entry("key"));
    store.move(entry("other"));
    assertEquals("value", get("key"));
    store.endResizing();
    assertEquals("x", get("other"));
    watch();
    assertNull(get("nothing"));
    assertEquals(List.of(store.nextKey(), store.rootKey()), reads);
  }

  @Test
  void postsThatAreRefusedAreMadeUpForInTheirOrder() {
    doubling();
    store.move(entry("key"));
    reads.clear();
    int[] refusals = {0};
    store.clientDevice.hook =
        (opcode, key, offset, length) -> {
          if (opcode == Opcode.READ && refusals[0]++ % 2 == 0) {
            return HookedDevice.REFUSE;
          }
          reads.add(key);
          return HookedDevice.GO;
        };
    assertEquals("value", get("key"));
    assertEquals(List.of(store.tableKey(), store.nextKey(), store.rootKey()), reads.subList(0, 3));
  }

  @Test
  void aMapWithATableThatCannotBeIsRefused() {
    store.tamper =
        (type, response, length) -> {
          if (type == Message.MAP) {
            Message.putLong(response, Message.MAPPED_NEXT_BUCKETS, 3 * FakeStore.BUCKETS);
          }
          return length;
        };
    ErdaException e = assertThrows(ErdaException.class, store::client);
    assertTrue(e.getMessage().contains("resized"), e.getMessage());
  }
}
