package io.erda.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.protocol.ErdaException;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;

/** A handler receives the outcome of every operation once, whatever it does. */
class HandlerTest {
  private final FakeStore store = new FakeStore();

  /** By token: how often the handler received the outcome. */
  private final Map<Long, Integer> told = new TreeMap<>();

  /** The action of the handler besides counting. */
  private LongConsumer then = token -> {};

  private ErdaAsyncClient erda;

  private final OperationHandler handler =
      new OperationHandler() {
        @Override
        public void onGet(long token, MemorySegment memory, long offset, long length) {
          hear(token);
        }

        @Override
        public void onPut(long token) {
          hear(token);
        }

        @Override
        public void onDelete(long token, boolean existed) {
          hear(token);
        }

        @Override
        public void onError(long token, ErdaException error) {
          hear(token);
        }
      };

  private void hear(long token) {
    told.merge(token, 1, Integer::sum);
    assertTrue(erda.inFlight() >= 0, () -> erda.inFlight() + " operations in flight");
    then.accept(token);
  }

  private static final class HandlerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    HandlerException(long token) {
      super("of operation " + token);
    }
  }

  private static MemorySegment segment(String text) {
    return MemorySegment.ofArray(text.getBytes(UTF_8));
  }

  private ErdaAsyncClient client(int depth) {
    erda =
        ErdaAsyncClient.over(
            store.clientDevice,
            FakeStore.ADDRESS,
            ClientOptions.DEFAULT.withPipelineDepth(depth),
            store,
            handler);
    return erda;
  }

  private void connect() {
    while (!erda.isConnected()) {
      if (erda.doWork() == 0) {
        store.getAsLong();
      }
    }
  }

  /** Puts, gets and deletes of a few keys, so that some wait for others. */
  private void submit(int from, int count) {
    for (int i = from; i < from + count; i++) {
      MemorySegment key = segment("k" + i % 3);
      boolean submitted =
          switch (i % 4) {
            case 0 -> erda.get(i, key);
            case 1 -> erda.delete(i, key);
            default -> erda.put(i, key, segment("v" + i));
          };
      assertTrue(submitted, "operation " + i);
    }
  }

  private void assertEachToldOnce(int count) {
    for (long token = 0; token < count; token++) {
      assertEquals(1, told.get(token), "operation " + token + " of " + told);
    }
    assertEquals(count, told.size());
    assertEquals(0, erda.inFlight());
  }

  /**
   * The handler's exception was taken for a failure of the operation, whose outcome was passed on a
   * second time.
   */
  @Test
  void handlerThatThrowsIsToldOnce() {
    client(16);
    connect();
    then =
        token -> {
          throw new HandlerException(token);
        };
    submit(0, 16);
    int thrown = 0;
    for (int i = 0; i < 100_000 && erda.inFlight() > 0; i++) {
      try {
        if (erda.doWork() == 0) {
          store.getAsLong();
        }
      } catch (HandlerException e) {
        thrown += 1 + e.getSuppressed().length;
      }
    }
    assertEachToldOnce(16);
    assertEquals(16, thrown, "each exception comes out of doWork, one or with others");
    then = token -> {};
    erda.close();
    assertEachToldOnce(16);
  }

  @Test
  void everyOperationIsToldWhenHandlersThrowWithinClose() {
    client(16);
    connect();
    store.answer = (type, request) -> type == Message.PUBLISH ? FakeStore.SILENCE : Result.OK;
    submit(0, 16);
    then =
        token -> {
          throw new HandlerException(token);
        };
    HandlerException e = assertThrows(HandlerException.class, erda::close);
    assertEquals(15, e.getSuppressed().length);
    assertEachToldOnce(16);
    assertClosed();
  }

  @Test
  void submissionWithinCloseIsRefused() {
    client(16);
    connect();
    store.answer = (type, request) -> type == Message.PUBLISH ? FakeStore.SILENCE : Result.OK;
    submit(0, 16);
    int[] refused = new int[1];
    then =
        token -> {
          assertThrows(IllegalStateException.class, () -> erda.get(99, segment("a")));
          assertThrows(IllegalStateException.class, () -> erda.put(99, segment("a"), segment("")));
          assertThrows(IllegalStateException.class, erda::doWork);
          refused[0]++;
        };
    erda.close();
    assertEachToldOnce(16);
    assertEquals(16, refused[0]);
    assertClosed();
  }

  @Test
  void handlerMayClose() {
    client(16);
    connect();
    submit(0, 16);
    then =
        token -> {
          erda.close();
          assertThrows(IllegalStateException.class, () -> erda.get(99, segment("a")));
        };
    for (int i = 0; i < 100_000 && told.isEmpty(); i++) {
      if (erda.doWork() == 0) {
        store.getAsLong();
      }
    }
    assertEachToldOnce(16);
    assertClosed();
  }

  @Test
  void handlerCanNeitherWorkNorHandOver() {
    client(4);
    connect();
    submit(0, 4);
    then =
        token -> {
          assertThrows(IllegalStateException.class, erda::doWork);
          assertThrows(IllegalStateException.class, () -> erda.await(1));
          assertThrows(IllegalStateException.class, erda::handOver);
        };
    drain();
    assertEachToldOnce(4);
    erda.close();
  }

  /**
   * The outcomes of gets that end in the submitting call are passed on by doWork, and one call of
   * doWork ends.
   */
  @Test
  void handlerThatAlwaysSubmitsDoesNotKeepDoWork() {
    client(1);
    connect();
    erda.put(0, segment("a"), segment("1"));
    drain();
    int[] next = {1};
    then =
        token -> {
          assertFalse(erda.get(1000, segment("a")), "its place is free when it has returned");
          assertTrue(erda.put(1000 + next[0]++, segment("b"), segment("2")));
        };
    assertTrue(erda.get(1, segment("a")));
    assertNull(told.get(1L), "nothing is told within the call that submits");
    while (told.get(1L) == null) {
      erda.doWork();
    }
    then = token -> {};
    drain();
    assertEquals(1, told.get(1001L));
    erda.close();
  }

  /** Everything at once, many times. */
  @Test
  void everyOperationIsToldOnceWhateverHandlersDo() {
    long first = Long.getLong("erda.seed", 1);
    long runs = Long.getLong("erda.seed") == null ? 300 : 1;
    for (long seed = first; seed < first + runs; seed++) {
      try {
        runRandomly(new Random(seed));
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("-Derda.seed=" + seed, e);
      }
    }
  }

  private void runRandomly(Random random) {
    told.clear();
    FakeStore own = store;
    own.answer =
        (type, request) ->
            type == Message.PUBLISH && random.nextInt(8) == 0
                ? (random.nextBoolean() ? Result.NO_RESERVATION : Result.LOG_FULL)
                : Result.OK;
    client(8);
    int[] submitted = new int[1];
    boolean[] closed = new boolean[1];
    then =
        token -> {
          if (!closed[0] && random.nextInt(40) == 0) {
            closed[0] = true;
            erda.close();
          }
          if (!closed[0] && random.nextBoolean()) {
            submitted[0] += submitOne(submitted[0], random) ? 1 : 0;
          }
          if (random.nextInt(3) == 0) {
            throw new HandlerException(token);
          }
        };
    for (int i = 0; i < 300 && !closed[0]; i++) {
      try {
        submitted[0] += submitOne(submitted[0], random) ? 1 : 0;
        if (erda.doWork() == 0) {
          own.getAsLong();
        }
      } catch (HandlerException e) {
        // Expected.
      }
    }
    closed[0] = true;
    try {
      erda.close();
    } catch (HandlerException e) {
      // Expected.
    }
    assertEachToldOnce(submitted[0]);
    assertClosed();
  }

  private boolean submitOne(int token, Random random) {
    MemorySegment key = segment("k" + random.nextInt(4));
    return switch (random.nextInt(3)) {
      case 0 -> erda.get(token, key);
      case 1 -> erda.delete(token, key);
      default -> erda.put(token, key, segment("v" + token));
    };
  }

  private void drain() {
    for (int i = 0; i < 100_000 && erda.inFlight() > 0; i++) {
      if (erda.doWork() == 0) {
        store.getAsLong();
      }
    }
    assertEquals(0, erda.inFlight());
  }

  private void assertClosed() {
    assertThrows(IllegalStateException.class, erda::doWork);
    assertTrue(store.clientDevice.last.closed, "its queue pair is closed");
  }
}
