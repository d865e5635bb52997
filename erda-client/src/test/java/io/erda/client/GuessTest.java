package io.erda.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.erda.hashtable.Entry;
import io.erda.hashtable.VersionWord;
import io.erda.protocol.Root;
import io.erda.rdma.Opcode;
import io.erda.rdma.Status;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A get READs its object with the look-up where it lay last, and believes it under conditions. */
class GuessTest {
  private static final byte[] KEY = "key".getBytes(UTF_8);

  private final FakeStore store = new FakeStore();
  private final List<String> reads = new ArrayList<>();
  private ErdaClient erda;

  /** The fate of the next READ of an object. */
  private int objectReads = HookedDevice.GO;

  @BeforeEach
  void connect() {
    store.clientDevice.distant = true;
    store.put("key", "1");
    erda = store.client();
    store.clientDevice.hook =
        (opcode, key, offset, length) -> {
          if (opcode != Opcode.READ) {
            return HookedDevice.GO;
          }
          boolean root = key == store.rootKey();
          boolean table = key == store.tableKey();
          reads.add(root ? "root" : table ? "table" : "object");
          if (root || table) {
            return HookedDevice.GO;
          }
          int decision = objectReads;
          objectReads = HookedDevice.GO;
          return decision;
        };
    assertEquals("1", get());
    assertEquals(List.of("table", "root", "object"), reads);
    reads.clear();
  }

  @AfterEach
  void close() {
    erda.close();
  }

  private String get() {
    byte[] value = erda.get(KEY);
    return value == null ? null : new String(value, UTF_8);
  }

  private int head() {
    return Entry.headOf(store.keyWord(KEY));
  }

  private void overwrite(String value) {
    long entry = store.entryOf(KEY);
    int offset = store.append(head(), KEY, value.getBytes(UTF_8));
    store.setWord(entry, VersionWord.update(store.word(entry), offset, false));
  }

  private void assertGuesses(int guesses, int right) {
    assertEquals(guesses, erda.statistics().guesses());
    assertEquals(right, erda.statistics().rightGuesses());
  }

  @Test
  void objectThatLiesWhereItLayComesWithTheLookUp() {
    assertEquals("1", get());
    // Behind the entry that names it, in front of the root that confirms the map.
    assertEquals(List.of("table", "object", "root"), reads);
    assertGuesses(1, 1);
    assertEquals(1, erda.statistics().objectReads());
  }

  @Test
  void objectThatLayThereBeforeIsNotBelieved() {
    overwrite("2");
    assertEquals("2", get());
    assertEquals(List.of("table", "object", "root", "object"), reads);
    assertGuesses(1, 0);
    reads.clear();
    assertEquals("2", get());
    assertEquals(List.of("table", "object", "root"), reads);
    assertGuesses(2, 1);
  }

  @Test
  void overwrittenWhileTheGuessIsRead() {
    boolean[] done = new boolean[1];
    HookedDevice.Hook before = store.clientDevice.hook;
    store.clientDevice.hook =
        (opcode, key, offset, length) -> {
          // The neighbourhood names the first version: a get that READs it then may return it.
          if (!done[0] && opcode == Opcode.READ && key != store.tableKey()) {
            done[0] = true;
            overwrite("2");
          }
          return before.before(opcode, key, offset, length);
        };
    assertEquals("1", get());
    assertEquals("2", get());
    assertGuesses(2, 1);
  }

  @Test
  void keyThatWasDeletedIsAbsent() {
    store.setWord(store.entryOf(KEY), 0);
    assertNull(get());
  }

  @Test
  void anotherKeyOfTheSameWordIsToldApart() {
    long entry = store.entryOf(KEY);
    long first = store.word(entry);
    byte[] twin = "twin".getBytes(UTF_8);
    store.setWord(entry, VersionWord.first(store.append(head(), twin, KEY), false));
    // Behind the twin: its object is READ over the one that came with the look-up.
    store.insert(store.keyWord(KEY), first);
    assertEquals("1", get());
    assertEquals(List.of("table", "object", "root", "object", "object"), reads);
  }

  @ParameterizedTest
  @ValueSource(ints = {Status.REMOTE_ACCESS, Status.MEMORY_LOST, Status.DENIED, Status.UNTRUSTED})
  void guessThatFailsSaysNothingOfTheStore(int status) {
    long refreshes = erda.statistics().mapRefreshes();
    objectReads = status;
    assertEquals("1", get());
    assertEquals(List.of("table", "object", "root", "table", "root", "object"), reads);
    assertEquals(refreshes, erda.statistics().mapRefreshes());
    assertEquals(1, erda.statistics().connections());
  }

  @Test
  void guessThatTheQueueRefusesIsPostedLater() {
    objectReads = HookedDevice.REFUSE;
    assertEquals("1", get());
    assertEquals(List.of("table", "object", "object", "root"), reads);
    assertGuesses(1, 1);
  }

  @Test
  void guessWithAnOldMapIsNotBelieved() {
    store.setRoot(Root.EPOCH_OFFSET, store.getRoot(Root.EPOCH_OFFSET) + 1);
    long lookUps = erda.statistics().lookUps();
    assertEquals("1", get());
    assertEquals(0, erda.statistics().rightGuesses());
    assertEquals(2, erda.statistics().lookUps() - lookUps);
  }

  @Test
  void whereReadsTakeNoRoundTripNothingIsGuessed() {
    store.clientDevice.distant = false;
    try (ErdaClient near = store.client()) {
      near.get(KEY);
      near.get(KEY);
      assertEquals(0, near.statistics().guesses());
    }
  }
}
