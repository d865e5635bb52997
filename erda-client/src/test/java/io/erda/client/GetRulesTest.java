package io.erda.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.hashtable.Entry;
import io.erda.hashtable.VersionWord;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.protocol.Root;
import io.erda.rdma.Opcode;
import io.erda.rdma.Status;
import java.lang.foreign.ValueLayout;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The reader's rules, each met on purpose. */
class GetRulesTest {
  private final FakeStore store = new FakeStore();
  private ErdaClient erda;

  @BeforeEach
  void connect() {
    store.put("other", "x");
    erda = store.client();
    // From here on the client knows an even counter from before.
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

  /** Runs {@code action} before the n-th READ of the root that comes (0: the next). */
  private void beforeRootRead(IntConsumer action) {
    int[] count = {0};
    store.clientDevice.hook =
        (opcode, key, offset, length) -> {
          if (opcode == Opcode.READ && key == store.rootKey()) {
            action.accept(count[0]++);
          }
          return HookedDevice.GO;
        };
  }

  /** Runs {@code action} before the n-th READ of an object that comes. */
  private void beforeObjectRead(IntConsumer action) {
    int[] count = {0};
    store.clientDevice.hook =
        (opcode, key, offset, length) -> {
          if (opcode == Opcode.READ && key != store.rootKey() && key != store.tableKey()) {
            action.accept(count[0]++);
          }
          return HookedDevice.GO;
        };
  }

  @Test
  void absenceTakesOneLookUpWhileNothingMoves() {
    long before = erda.statistics().lookUps();
    assertNull(get("nothing"));
    assertNull(get("nothing at all"));
    assertEquals(2, erda.statistics().lookUps() - before);
    assertEquals(0, erda.statistics().objectReads());
  }

  @Test
  void firstAbsenceOfAConnectionIsLookedUpTwice() {
    try (ErdaClient fresh = store.client()) {
      assertNull(fresh.get(bytes("nothing")));
      assertEquals(2, fresh.statistics().lookUps());
    }
  }

  @Test
  void absenceIsNotBelievedWhileAnEntryMoves() {
    byte[] key = bytes("moving");
    int offset = store.append(Entry.headOf(store.keyWord(key)), key, bytes("there"));
    store.setRoot(Root.STRUCTURE_COUNTER_OFFSET, 1);
    // The move ends before the fourth look-up; until then the entry is nowhere.
    beforeRootRead(n -> {
      if (n == 3) {
        store.insert(store.keyWord(key), VersionWord.first(offset, false));
        store.setRoot(Root.STRUCTURE_COUNTER_OFFSET, 2);
      }
    });
    assertEquals("there", get("moving"));
  }

  @Test
  void absenceIsNotBelievedAfterACounterThatChanged() {
    byte[] key = bytes("moved");
    int offset = store.append(Entry.headOf(store.keyWord(key)), key, bytes("there"));
    // The whole move happens between the neighbourhood READ and the root READ: the counter is even
    // again.
    beforeRootRead(n -> {
      if (n == 0) {
        store.insert(store.keyWord(key), VersionWord.first(offset, false));
        store.setRoot(Root.STRUCTURE_COUNTER_OFFSET, 2);
      }
    });
    assertEquals("there", get("moved"));
  }

  @Test
  void counterThatStaysOddWhileTheServerLivesEndsInATypedError() {
    store.setRoot(Root.STRUCTURE_COUNTER_OFFSET, 1);
    try (ErdaClient hasty =
        store.client(
            ClientOptions.DEFAULT
                .withPollingNs(1L << 40)
                .withOperationTimeout(java.time.Duration.ofMillis(20)))) {
      ErdaException.Unavailable e =
          assertThrows(ErdaException.Unavailable.class, () -> hasty.get(bytes("nothing")));
      assertTrue(e.getMessage().contains("moved"), e.getMessage());
      assertArrayEquals(bytes("x"), hasty.get(bytes("other")));
    }
  }

  @Test
  void counterThatStaysOddWithoutAServerEndsInATypedErrorAtOnce() {
    store.clientDevice.outlives = true;
    try (ErdaClient client = store.client()) {
      store.setRoot(Root.STRUCTURE_COUNTER_OFFSET, 1);
      store.clientDevice.last.complete(0, Opcode.DISCONNECT, Status.SUCCESS);
      ErdaException.Unavailable e =
          assertThrows(ErdaException.Unavailable.class, () -> client.get(bytes("nothing")));
      assertTrue(e.getMessage().contains("structure counter 1"), e.getMessage());
      assertArrayEquals(bytes("x"), client.get(bytes("other")));
    }
  }

  @Test
  void everyEqualTagIsTried() {
    byte[] key = bytes("wanted");
    long keyWord = store.keyWord(key);
    int head = Entry.headOf(keyWord);
    store.insert(keyWord, VersionWord.first(store.append(head, bytes("twin"), bytes("no")), false));
    store.insert(keyWord, VersionWord.first(store.append(head, bytes("twins"), bytes("no")), true));
    assertNull(get("wanted"));
    store.insert(keyWord, VersionWord.first(store.append(head, key, bytes("yes")), false));
    assertEquals("yes", get("wanted"));
    assertEquals(0, erda.statistics().invalidObjects());
  }

  @Test
  void pendingVersionIsNotLookedAt() {
    byte[] key = bytes("p");
    int head = Entry.headOf(store.keyWord(key));
    long entry =
        store.insert(
            store.keyWord(key), VersionWord.first(store.append(head, key, bytes("1")), true));
    assertNull(get("p"));
    store.setWord(entry, VersionWord.commit(store.word(entry)));
    assertEquals("1", get("p"));
    store.setWord(
        entry, VersionWord.update(store.word(entry), store.append(head, key, bytes("2")), true));
    assertEquals("1", get("p"));
    store.setWord(entry, VersionWord.commit(store.word(entry)));
    assertEquals("2", get("p"));
  }

  @Test
  void tornObjectIsReadAgain() {
    store.put("t", "torn");
    byte[] key = bytes("t");
    int head = Entry.headOf(store.keyWord(key));
    long at = store.geometry.place(VersionWord.newest(store.word(store.entryOf(key)))) + 11;
    byte right = store.regions.get(head).get(ValueLayout.JAVA_BYTE, at);
    beforeObjectRead(n ->
        store.regions.get(head).set(ValueLayout.JAVA_BYTE, at, n < 2 ? (byte) (right + 1) : right));
    assertEquals("torn", get("t"));
    assertEquals(2, erda.statistics().invalidObjects());
    assertEquals(0, erda.statistics().resolves());
  }

  @Test
  void serverAloneDeclaresDamage() {
    store.put("d", "damaged");
    byte[] key = bytes("d");
    int head = Entry.headOf(store.keyWord(key));
    long at = store.geometry.place(VersionWord.newest(store.word(store.entryOf(key)))) + 11;
    byte right = store.regions.get(head).get(ValueLayout.JAVA_BYTE, at);
    store.regions.get(head).set(ValueLayout.JAVA_BYTE, at, (byte) (right ^ 4));
    // Repaired by the server when it is asked.
    store.answer =
        (type, request) -> {
          if (type == Message.RESOLVE) {
            store.regions.get(head).set(ValueLayout.JAVA_BYTE, at, right);
          }
          return Result.OK;
        };
    assertEquals("damaged", get("d"));
    assertEquals(1, erda.statistics().resolves());

    store.regions.get(head).set(ValueLayout.JAVA_BYTE, at, (byte) (right ^ 4));
    store.answer = (type, request) -> type == Message.RESOLVE ? Result.DAMAGED : Result.OK;
    ErdaException.Damaged e = assertThrows(ErdaException.Damaged.class, () -> get("d"));
    assertTrue(e.getMessage().contains("key 'd'"), e.getMessage());

    store.answer = (type, request) -> Result.OK;
    assertThrows(
        ErdaException.Unavailable.class, () -> get("d"), "the server finds it sound, we do not");
    assertEquals("x", get("other"));
  }

  @Test
  void everyFlippedBitIsSeen() {
    store.put("bits", "some value");
    byte[] key = bytes("bits");
    int head = Entry.headOf(store.keyWord(key));
    long place = store.geometry.place(VersionWord.newest(store.word(store.entryOf(key))));
    store.answer = (type, request) -> type == Message.RESOLVE ? Result.DAMAGED : Result.OK;
    for (int bit = 0; bit < 8 * (10 + 4 + 10); bit++) {
      long at = place + bit / 8;
      byte right = store.regions.get(head).get(ValueLayout.JAVA_BYTE, at);
      store.regions.get(head).set(ValueLayout.JAVA_BYTE, at, (byte) (right ^ 1 << bit % 8));
      assertThrows(ErdaException.Damaged.class, () -> get("bits"), "bit " + bit);
      store.regions.get(head).set(ValueLayout.JAVA_BYTE, at, right);
    }
    assertEquals("some value", get("bits"));
  }

  @Test
  void objectOfAnotherPlaceOrGenerationIsInvalid() {
    store.put("g", "1");
    store.generation++;
    // The map says generation 5 still, so an object of generation 6 is not believed.
    store.put("g", "2");
    store.answer = (type, request) -> type == Message.RESOLVE ? Result.DAMAGED : Result.OK;
    assertThrows(ErdaException.Damaged.class, () -> get("g"));
    store.setRoot(Root.EPOCH_OFFSET, 2);
    assertEquals("2", get("g"));
  }

  @Test
  void epochThatChangedRefreshesTheMap() {
    store.mapPage = 1;
    long before = erda.statistics().mapRefreshes();
    store.setRoot(Root.EPOCH_OFFSET, 2);
    assertEquals("x", get("other"));
    assertEquals("x", get("other"));
    assertEquals(1, erda.statistics().mapRefreshes() - before);
  }

  @Test
  void mapThatChangesBetweenPagesIsFetchedAnew() {
    store.mapPage = 1;
    store.setRoot(Root.EPOCH_OFFSET, 2);
    int[] pages = {0};
    store.answer =
        (type, request) -> {
          if (type == Message.MAP && ++pages[0] == 2) {
            store.setRoot(Root.EPOCH_OFFSET, 3);
          }
          return Result.OK;
        };
    assertEquals("x", get("other"));
    assertEquals(4, pages[0]);
  }

  /** Fetched one page after the other, such a map was never complete, and the connection ended. */
  @Test
  void mapOfManyPagesThatChangesWithEveryStepOfTheServerArrives() {
    store.mapPage = 1;
    boolean[] answered = {false};
    int[] changes = {0};
    store.answer =
        (type, request) -> {
          answered[0] |= type == Message.MAP;
          return Result.OK;
        };
    store.onTick =
        () -> {
          if (answered[0] && changes[0] < 30) {
            changes[0]++;
            answered[0] = false;
            store.setRoot(Root.EPOCH_OFFSET, store.getRoot(Root.EPOCH_OFFSET) + 1);
          }
        };
    try (ErdaClient late = store.client()) {
      assertTrue(changes[0] < 5, "the epoch changed " + changes[0] + " times");
      long connected = late.statistics().connections();
      store.setRoot(Root.EPOCH_OFFSET, store.getRoot(Root.EPOCH_OFFSET) + 1);
      assertArrayEquals(bytes("x"), late.get(bytes("other")));
      assertEquals(connected, late.statistics().connections());
    }
  }

  @Test
  void mapThatBecomesShorterBetweenPagesIsFetchedAnew() {
    store.mapPage = 1;
    store.setRoot(Root.EPOCH_OFFSET, 2);
    int[] pages = {0};
    store.tamper =
        (type, response, length) -> {
          if (type == Message.MAP && ++pages[0] == 2) {
            // No region is left, so the second page is empty and begins where the first did.
            Message.putLong(response, Message.MAPPED_EPOCH, 3);
            Message.putInt(response, Message.MAPPED_REGIONS, 0);
            Message.putInt(response, Message.MAPPED_FIRST, 0);
            Message.putInt(response, Message.MAPPED_COUNT, 0);
            Message.putInt(response, 4, Message.MAPPED_RECORDS);
            store.setRoot(Root.EPOCH_OFFSET, 4);
            return Message.MAPPED_RECORDS;
          }
          return length;
        };
    assertEquals("x", get("other"));
    assertEquals(1, erda.statistics().connections());
  }

  @Test
  void mapThatIsAlwaysStaleEndsInATypedError() {
    beforeRootRead(n -> store.setRoot(Root.EPOCH_OFFSET, store.getRoot(Root.EPOCH_OFFSET) + 1));
    assertThrows(ErdaException.Unavailable.class, () -> get("other"));
  }

  @Test
  void revokedRegionRefreshesTheMap() {
    byte[] key = bytes("other");
    int head = Entry.headOf(store.keyWord(key));
    beforeObjectRead(n -> {
      if (n == 0) {
        store.device.deregister(store.regionKeys.get((long) head));
        store.link(head);
      }
    });
    assertEquals("x", get("other"));
  }

  @Test
  void fullQueueIsWaitedFor() {
    int[] count = {0};
    store.clientDevice.hook =
        (opcode, key, offset, length) ->
            count[0]++ % 3 == 2 ? HookedDevice.GO : HookedDevice.REFUSE;
    assertEquals("x", get("other"));
    erda.put(bytes("a"), bytes("1"));
    assertEquals("1", get("a"));
    assertNull(get("nothing"));
  }

  @Test
  void wordThatNamesNoRegionIsNotFollowed() {
    byte[] key = bytes("w");
    store.insert(store.keyWord(key), VersionWord.first(VersionWord.OFFSET_MAX, false));
    store.answer = (type, request) -> type == Message.RESOLVE ? Result.DAMAGED : Result.OK;
    assertThrows(ErdaException.Damaged.class, () -> get("w"));
  }
}
