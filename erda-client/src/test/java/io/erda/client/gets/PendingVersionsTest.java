package io.erda.client.gets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.client.FakeStore;
import io.erda.client.HookedDevice;
import io.erda.client.KeyCursor;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.ObjectLayout;
import io.erda.protocol.Message;
import io.erda.protocol.Promise;
import io.erda.protocol.Root;
import io.erda.rdma.Opcode;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests how readers treat pending words in a store whose puts announce first, and changes of such a
 * word while a reader examines it.
 */
class PendingVersionsTest {
  private static final byte[] KEY = "key".getBytes(UTF_8);
  private static final byte[] OLD = "old".getBytes(UTF_8);
  private static final byte[] NEW = "new".getBytes(UTF_8);
  private static final byte[] NEWER = "newer".getBytes(UTF_8);

  /** All operations that READ values. Each returns the value that it finds, or null. */
  enum Reader {
    GET {
      @Override
      String find(ErdaClient erda) {
        return text(erda.get(KEY));
      }
    },
    SEVERAL_GETS {
      @Override
      String find(ErdaClient erda) {
        return text(erda.getAll(List.of("other".getBytes(UTF_8), KEY)).get(1));
      }
    },
    ITERATION {
      @Override
      String find(ErdaClient erda) {
        String found = null;
        try (KeyCursor keys = erda.keys()) {
          while (keys.next()) {
            if (new String(keys.key(), UTF_8).equals("key")) {
              assertEquals(null, found, "given twice");
              found = text(keys.value());
            }
          }
        }
        return found;
      }
    };

    abstract String find(ErdaClient erda);

    private static String text(byte[] value) {
      return value == null ? null : new String(value, UTF_8);
    }
  }

  private final FakeStore store = new FakeStore();
  private final int head = store.headOf(KEY);
  private ErdaClient erda;
  private long counter;

  /** Where the newest version is going to be. */
  private int offset;

  @BeforeEach
  void open() {
    store.welcome = said -> said.promise(Promise.ATOMIC).putMode(1);
    store.put("other", "of another key");
    erda = store.client();
  }

  @AfterEach
  void close() {
    erda.close();
  }

  private int reserve(byte[] value) {
    int bytes = ObjectLayout.bytes(KEY.length, value == null ? 0 : value.length);
    return (int) (store.reserve(head, ObjectLayout.padded(bytes)) >>> 3);
  }

  /** The key's word names a place, where nothing lies yet. */
  private void announce(byte[] value) {
    offset = reserve(value);
    long entry = store.entryOf(KEY);
    if (entry < 0) {
      store.insert(store.keyWord(KEY), VersionWord.first(offset, true));
    } else {
      store.setWord(entry, VersionWord.update(store.word(entry), offset, true));
    }
  }

  private void write(byte[] value) {
    store.write(head, offset, KEY, value);
  }

  private void commit() {
    long entry = store.entryOf(KEY);
    store.setWord(entry, VersionWord.commit(store.word(entry)));
  }

  /** The server judges the word, and finds nothing whole. */
  private void rollBack() {
    counter += 2;
    store.setRoot(Root.STRUCTURE_COUNTER_OFFSET, counter);
    long entry = store.entryOf(KEY);
    store.setWord(entry, VersionWord.rollback(store.word(entry)));
  }

  /** Something happens just before an object of the key is READ for the first time. */
  private void beforeTheObject(Runnable action) {
    long region = store.regionKeys.get((long) head).remoteKey();
    boolean[] done = {false};
    store.clientDevice.hook =
        (opcode, key, at, length) -> {
          if (opcode == Opcode.READ && key == region && at == (long) offset << 3 && !done[0]) {
            done[0] = true;
            action.run();
          }
          return HookedDevice.GO;
        };
  }

  @ParameterizedTest
  @EnumSource
  void whatIsWholeCountsThoughItIsPending(Reader reader) {
    store.put("key", "old");
    announce(NEW);
    write(NEW);
    assertEquals("new", reader.find(erda));
  }

  @ParameterizedTest
  @EnumSource
  void aFirstVersionThatIsWholeCounts(Reader reader) {
    announce(NEW);
    write(NEW);
    assertEquals("new", reader.find(erda));
  }

  @ParameterizedTest
  @EnumSource
  void aTombstoneThatIsWholeCounts(Reader reader) {
    store.put("key", "old");
    announce(null);
    write(null);
    assertEquals(null, reader.find(erda));
  }

  /** The client also reports the word to the server. */
  @ParameterizedTest
  @EnumSource
  void whatIsNotWholeDoesNotCount(Reader reader) {
    store.put("key", "old");
    announce(NEW);
    assertEquals("old", reader.find(erda));
    for (int i = 0; i < 10; i++) {
      store.getAsLong();
    }
    assertTrue(store.requests.contains(Message.REPORT), store.requests::toString);
  }

  @ParameterizedTest
  @EnumSource
  void aFirstVersionThatIsNotWholeIsNoValue(Reader reader) {
    announce(NEW);
    assertEquals(null, reader.find(erda));
  }

  /**
   * The version was whole, and is moved before it is READ: the version before is not the answer.
   */
  @ParameterizedTest
  @EnumSource
  void aWholeVersionThatIsMovedIsNotTakenForATornOne(Reader reader) {
    store.put("key", "old");
    announce(NEW);
    write(NEW);
    int announced = offset;
    beforeTheObject(() -> commitAndMove(announced));
    assertEquals("new", reader.find(erda));
  }

  /** The put is committed, and the cleaner moves its object away from the place announced. */
  private void commitAndMove(int announced) {
    commit();
    long entry = store.entryOf(KEY);
    int moved = store.append(head, KEY, NEW);
    store.setWord(entry, VersionWord.withNewest(store.word(entry), moved));
    store.regions.get(head).asSlice((long) announced << 3, 8).fill((byte) 0);
  }

  /** A put of a new key is committed and copied while a reader looks: the key is not absent. */
  @ParameterizedTest
  @EnumSource
  void aFirstVersionThatIsMovedIsNotMissed(Reader reader) {
    announce(NEW);
    write(NEW);
    int announced = offset;
    beforeTheObject(() -> commitAndMove(announced));
    assertEquals("new", reader.find(erda));
  }

  /** An object that a fenced writer completes after the judgement never was a value. */
  @ParameterizedTest
  @EnumSource
  void whatIsCompletedBehindAJudgementDoesNotCount(Reader reader) {
    store.put("key", "old");
    announce(NEW);
    beforeTheObject(() -> {
      rollBack();
      write(NEW);
    });
    assertEquals("old", reader.find(erda));
  }

  /** A judgement leaves the word as the reader saw it; only the structure counter has changed. */
  @ParameterizedTest
  @EnumSource
  void aJudgementThatIsUnderWayIsWaitedFor(Reader reader) {
    store.put("key", "old");
    announce(NEW);
    beforeTheObject(() -> {
      counter += 1;
      store.setRoot(Root.STRUCTURE_COUNTER_OFFSET, counter);
      write(NEW);
      store.onTick =
          () -> {
            store.onTick = () -> {};
            counter -= 1;
            rollBack();
          };
    });
    assertEquals("old", reader.find(erda));
  }

  /** A judgement ends between the reader's second READ of the word and that of the root. */
  @ParameterizedTest
  @EnumSource
  void aJudgementThatEndsInTheSecondLookIsNoticed(Reader reader) {
    store.put("key", "old");
    announce(NEW);
    // The counter is known.
    reader.find(erda);
    beforeTheObject(() -> {
      counter += 1;
      store.setRoot(Root.STRUCTURE_COUNTER_OFFSET, counter);
      write(NEW);
      store.clientDevice.hook =
          (opcode, key, at, length) -> {
            if (opcode == Opcode.READ && key == store.rootKey()) {
              store.clientDevice.hook = (o, k, a, l) -> HookedDevice.GO;
              counter -= 1;
              rollBack();
            }
            return HookedDevice.GO;
          };
    });
    assertEquals("old", reader.find(erda));
  }

  /** A put takes effect between the two look-ups. The result was right between them, or later. */
  @ParameterizedTest
  @EnumSource
  void aPutThatIsDoneMeanwhileIsSeen(Reader reader) {
    store.put("key", "old");
    announce(NEW);
    beforeTheObject(() -> {
      write(NEW);
      commit();
      announce(NEWER);
      write(NEWER);
    });
    assertEquals("newer", reader.find(erda));
  }

  /** Where puts publish last a pending version never counts, whole or not. */
  @ParameterizedTest
  @EnumSource
  void whereItIsPublishedLastNothingPendingCounts(Reader reader) {
    erda.close();
    store.welcome = said -> said;
    erda = store.client();
    store.put("key", "old");
    announce(NEW);
    write(NEW);
    assertEquals("old", reader.find(erda));
  }
}
