package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaAsyncClient;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaClientPool;
import io.erda.client.OperationHandler;
import io.erda.protocol.ErdaException;
import io.erda.testing.Threads;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/**
 * Calls with a segment whose arena is closed, that only another thread may use, or that is
 * read-only although a value has to be copied into it. The exception of each call names the
 * argument, and the call has done nothing, even if other arguments are valid.
 */
@Timeout(60)
final class UnusableSegmentsTest {
  /** More than are under way together, so that some would have ended before the last is begun. */
  private static final int KEYS = 40;

  private static final byte[] BEFORE = "before".getBytes(UTF_8);
  private static final byte[] AFTER = "after".getBytes(UTF_8);

  @TempDir private Path directory;

  private ErdaStore store;
  private ErdaClient erda;
  private final MemorySegment key = MemorySegment.ofArray(key(0));
  private final MemorySegment before = MemorySegment.ofArray(BEFORE);
  private final MemorySegment after = MemorySegment.ofArray(AFTER);
  private final MemorySegment room = MemorySegment.ofArray(new byte[100]);
  private final MemorySegment freed = freed();
  private Arena others;
  private MemorySegment anothers;

  private static byte[] key(int i) {
    return ("key-" + i).getBytes(UTF_8);
  }

  private static MemorySegment freed() {
    try (Arena arena = Arena.ofShared()) {
      return arena.allocate(5);
    }
  }

  private static MemorySegment[] segments(byte[] each) {
    MemorySegment[] segments = new MemorySegment[KEYS];
    Arrays.setAll(segments, i -> MemorySegment.ofArray(each == null ? key(i) : each.clone()));
    return segments;
  }

  @BeforeEach
  void open() throws Exception {
    store = ErdaStore.open(directory.resolve("data"), SmallStore.OPTIONS);
    erda = store.client();
    for (int i = 0; i < KEYS; i++) {
      erda.put(key(i), BEFORE);
    }
    assertNull(
        Threads.run(
            "another",
            () -> {
              others = Arena.ofConfined();
              anothers = others.allocate(5);
            }));
  }

  @AfterEach
  void close() {
    erda.close();
    store.close();
  }

  private void assertUntouched() {
    for (int i = 0; i < KEYS; i++) {
      assertArrayEquals(BEFORE, erda.get(key(i)), "key " + i);
    }
    assertNull(erda.get(new byte[5]), "five zeros, as the memory was");
  }

  private static void assertTells(
      Class<? extends RuntimeException> type, String what, Executable call) {
    String said = assertThrows(type, call).getMessage();
    assertTrue(said.contains(what), said);
  }

  private interface WithSegment {
    void call(MemorySegment segment);
  }

  /** A call whose one argument is no memory to use. */
  private void refuses(String what, WithSegment call) {
    refuses(freed, IllegalStateException.class, what, call);
    refuses(anothers, WrongThreadException.class, what, call);
  }

  private void refuses(
      MemorySegment bad, Class<? extends RuntimeException> type, String what, WithSegment call) {
    RuntimeException thrown = assertThrows(RuntimeException.class, () -> call.call(bad));
    assertUntouched();
    assertEquals(type, thrown.getClass());
    assertTrue(thrown.getMessage().contains("the memory of " + what), thrown::getMessage);
  }

  @Test
  void ofOneKey() {
    refuses("the key", bad -> erda.put(bad, after));
    refuses("the value", bad -> erda.put(key, bad));
    refuses("the key", bad -> erda.get(bad, room));
    refuses("the segment for the value", bad -> erda.get(key, bad));
    refuses("the key", bad -> erda.delete(bad));
    refuses("the key", bad -> erda.putIfAbsent(bad, after));
    refuses("the value", bad -> erda.putIfAbsent(key, bad));
    refuses("the key", bad -> erda.compareAndSet(bad, before, after));
    refuses("the expected value", bad -> erda.compareAndSet(key, bad, after));
    refuses("the value", bad -> erda.compareAndSet(key, before, bad));
    refuses("the key", bad -> erda.compareAndDelete(bad, before));
    refuses("the expected value", bad -> erda.compareAndDelete(key, bad));
    assertTells(
        IllegalArgumentException.class,
        "read-only",
        () -> erda.get(MemorySegment.ofArray("absent".getBytes(UTF_8)), room.asReadOnly()));
  }

  /** The last of many arguments; the first ones took effect. */
  @Test
  void ofSeveralKeys() {
    int last = KEYS - 1;
    String lastInWords = " " + last + " of " + KEYS;
    MemorySegment[] keys = segments(null);
    MemorySegment[] values = segments(AFTER);
    ErdaException[] errors = new ErdaException[KEYS];
    WithSegment[] puts = {
      bad -> {
        keys[last] = bad;
        erda.putAll(keys, values, errors);
      },
      bad -> {
        keys[last] = bad;
        erda.deleteAll(keys, new boolean[KEYS], errors);
      },
      bad -> {
        keys[last] = bad;
        erda.getAll(keys, segments(new byte[9]), new long[KEYS], errors);
      }
    };
    for (WithSegment each : puts) {
      refuses("key" + lastInWords, each);
    }
    MemorySegment[] sound = segments(null);
    refuses(
        "value" + lastInWords,
        bad -> {
          values[last] = bad;
          erda.putAll(sound, values, errors);
        });
    MemorySegment[] into = segments(new byte[9]);
    long[] lengths = new long[KEYS];
    refuses(
        "the segment for value" + lastInWords,
        bad -> {
          into[last] = bad;
          erda.getAll(sound, into, lengths, errors);
        });
    into[last] = room.asReadOnly();
    assertTells(
        IllegalArgumentException.class,
        "read-only",
        () -> erda.getAll(sound, into, lengths, errors));
    assertEquals(0, lengths[0], "nothing was told of a key before");
  }

  @Test
  void ofAPool() {
    try (ErdaClientPool pool = new ErdaClientPool(store::client, 1, Duration.ofSeconds(20))) {
      refuses("the key", bad -> pool.put(bad, after));
      refuses("the value", bad -> pool.put(key, bad));
      refuses("the key", bad -> pool.get(bad, room));
      refuses("the segment for the value", bad -> pool.get(key, bad));
      refuses("the key", pool::delete);
    }
  }

  /** The handler receives no outcome of an operation that is refused when it is submitted. */
  @Test
  void ofAClientThatPipelines() {
    OperationHandler nothing =
        new OperationHandler() {
          @Override
          public void onGet(long token, MemorySegment memory, long offset, long length) {
            throw new AssertionError("get " + token);
          }

          @Override
          public void onPut(long token) {
            throw new AssertionError("put " + token);
          }

          @Override
          public void onDelete(long token, boolean existed) {
            throw new AssertionError("delete " + token);
          }

          @Override
          public void onError(long token, ErdaException error) {
            throw new AssertionError("error of " + token, error);
          }
        };
    try (ErdaAsyncClient async = store.asyncClient(ClientOptions.DEFAULT, nothing)) {
      refuses("the key", bad -> async.get(1, bad));
      refuses("the key", bad -> async.put(1, bad, after));
      refuses("the value", bad -> async.put(1, key, bad));
      refuses("the key", bad -> async.delete(1, bad));
      refuses("the key", bad -> async.putIfAbsent(1, bad, after));
      refuses("the value", bad -> async.putIfAbsent(1, key, bad));
      refuses("the key", bad -> async.compareAndSet(1, bad, before, after));
      refuses("the expected value", bad -> async.compareAndSet(1, key, bad, after));
      refuses("the value", bad -> async.compareAndSet(1, key, before, bad));
      refuses("the key", bad -> async.compareAndDelete(1, bad, before));
      refuses("the expected value", bad -> async.compareAndDelete(1, key, bad));
      async.doWork();
    }
  }
}
