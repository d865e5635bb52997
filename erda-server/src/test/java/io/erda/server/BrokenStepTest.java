package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.connections.LocalPublisher;
import io.erda.protocol.ErdaException;
import io.erda.rdma.embedded.EmbeddedNetwork;
import io.erda.testing.Threads;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A step of an embedded store ends in the middle, in a thread of the application whose stack is
 * full or that gets no memory. The store ends for all threads. Their exceptions describe the
 * failure and say that the store may be opened again. Closing returns, and the store that is opened
 * again has every acknowledged value.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BrokenStepTest {
  private static final long SEED = Long.getLong("erda.seed", 1);
  private static final int ROUNDS = Integer.getInteger("erda.rounds", 8);
  private static final int TRIES_MAX = 3_000;
  private static final long STACK_BYTES = 384 << 10;
  private static final byte[] KEY = "key".getBytes(UTF_8);
  private static final byte[] OTHER_KEY = "other key".getBytes(UTF_8);
  private static final String WHAT_TO_DO = "close it and open it again";

  @TempDir Path data;

  private static byte[] bytes(long value) {
    return ByteBuffer.allocate(8).putLong(value).array();
  }

  private static long value(byte[] bytes) {
    return bytes == null ? 0 : ByteBuffer.wrap(bytes).getLong();
  }

  private static void assertTells(ErdaException e, String error) {
    assertTrue(e.getMessage().contains(error), e::getMessage);
    assertTrue(e.getMessage().contains(WHAT_TO_DO), e::getMessage);
  }

  /** An error at a place that is the same in each run: before a step that was asked for. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anErrorInAStepIsToldToAllAndLeavesNoRecordOfACleanStop(boolean withoutMemory)
      throws Exception {
    Error error =
        withoutMemory ? new OutOfMemoryError("Java heap space") : new StackOverflowError();
    String inWords = withoutMemory ? "out of memory" : "stack of a thread is full";
    AtomicReference<Thread> failing = new AtomicReference<>();
    EmbeddedRig rig =
        EmbeddedRig.open(
            data,
            SmallStore.OPTIONS,
            () -> {
              if (Thread.currentThread() == failing.get()) {
                throw error;
              }
              return System.nanoTime();
            },
            new Failures());
    EmbeddedNetwork network = rig.network();
    SharedSteps steps = rig.steps();
    ServerThread server = rig.server();
    try (ErdaClient erda =
            ErdaClient.over(
                network.device(), "erda", ClientOptions.DEFAULT, System::nanoTime, steps);
        ErdaClient another =
            ErdaClient.over(
                network.device(), "erda", ClientOptions.DEFAULT, System::nanoTime, steps)) {
      erda.put(KEY, bytes(1));
      another.put(OTHER_KEY, bytes(1));
      failing.set(Thread.currentThread());
      ErdaException first =
          assertThrows(
              ErdaException.class,
              () -> {
                // The server's thread takes steps itself as long as it is awake.
                while (true) {
                  erda.put(KEY, bytes(1));
                }
              });
      failing.set(null);
      assertTells(first, inWords);
      assertSame(error, server.await());
      assertTells(assertThrows(ErdaException.class, () -> erda.put(KEY, bytes(2))), inWords);
      assertTells(
          assertThrows(ErdaException.class, () -> another.put(OTHER_KEY, bytes(2))), inWords);
      assertTells(
          assertThrows(
              ErdaException.Unavailable.class,
              () ->
                  ErdaClient.over(
                      network.device(), "erda", ClientOptions.DEFAULT, System::nanoTime)),
          inWords);
      server.close();
    }
    assertFalse(Files.exists(data.resolve("stopped")), "a step was left in the middle");
    try (ErdaStore again = ErdaStore.open(data, SmallStore.OPTIONS);
        ErdaClient erda = again.client()) {
      assertArrayEquals(bytes(1), erda.get(KEY));
      assertArrayEquals(bytes(1), erda.get(OTHER_KEY));
    }
    assertEquals(List.of(), StoreVerifier.verify(data).findings());
  }

  /** The call in which the object of a put could not be published has the error as its cause. */
  @Test
  void theErrorIsTheCauseOfWhatThePutThrowsThatMetIt() throws Exception {
    EmbeddedRig rig = EmbeddedRig.open(data, SmallStore.OPTIONS, System::nanoTime, new Failures());
    EmbeddedNetwork network = rig.network();
    SharedSteps steps = rig.steps();
    ServerThread server = rig.server();
    AtomicBoolean breaks = new AtomicBoolean();
    try (ErdaClient erda =
        ErdaClient.over(
            network.device(),
            "erda",
            ClientOptions.DEFAULT,
            System::nanoTime,
            (client, epoch) ->
                // No step of the server is prepared for nothing at all.
                new ChangedLine(
                    steps.line(client, epoch), object -> breaks.get() ? null : object))) {
      erda.put(KEY, bytes(1));
      breaks.set(true);
      ErdaException.OutcomeUnknown heard = null;
      while (heard == null) {
        try {
          // The first puts may be sent as messages, while the server's thread is awake.
          erda.put(KEY, bytes(1));
        } catch (ErdaException.OutcomeUnknown e) {
          heard = e;
        }
      }
      assertInstanceOf(NullPointerException.class, heard.getCause());
      assertTells(heard, "NullPointerException");
      assertSame(heard.getCause(), server.await());
      server.close();
    }
  }

  /**
   * A client whose commit met an error puts again, before the server's thread has looked. It took
   * its mark back so, and the server went on with counts that were cut short.
   */
  @Test
  void whoFailedWithinACommitCommitsNoMore() throws Exception {
    EmbeddedRig rig = EmbeddedRig.open(data, SmallStore.OPTIONS, System::nanoTime, new Failures());
    AtomicReference<LocalPublisher.Line> line = new AtomicReference<>();
    AtomicReference<LocalPublisher.Built> built = new AtomicReference<>();
    try (ErdaClient erda =
        ErdaClient.over(
            rig.network().device(),
            "erda",
            ClientOptions.DEFAULT,
            System::nanoTime,
            (client, epoch) -> {
              line.set(rig.steps().line(client, epoch));
              return new ChangedLine(
                  line.get(),
                  object -> {
                    built.set(object);
                    return object;
                  });
            })) {
      for (int i = 0; i < 10; i++) {
        erda.put(KEY, bytes(i));
      }
      awaitSharedPut(erda);
      awaitIdle();
      assertEquals(LocalPublisher.FAILED, line.get().publish(null));
      assertInstanceOf(NullPointerException.class, rig.steps().turn.sharersFailure);
      assertEquals(LocalPublisher.FAILED, line.get().publish(built.get()));
      assertInstanceOf(NullPointerException.class, line.get().cause());
      assertSame(line.get().cause(), rig.server().await());
      rig.server().close();
    }
  }

  /** Puts until a put shares the turn. On a machine with other work a thread may find it taken. */
  private static void awaitSharedPut(ErdaClient erda) throws InterruptedException {
    for (int i = 0; i < 100; i++) {
      long before = erda.stats().get("puts.shared");
      // The request for counters woke the server.
      awaitIdle();
      erda.put(KEY, bytes(i));
      if (erda.stats().get("puts.shared") > before) {
        return;
      }
    }
    fail("no put shares the turn");
  }

  /** A server is idle after this time, and asks for no step. */
  private static void awaitIdle() throws InterruptedException {
    Thread.sleep(200);
  }

  /** A line to which something else may be given than what the client has built. */
  private record ChangedLine(LocalPublisher.Line line, UnaryOperator<LocalPublisher.Built> change)
      implements LocalPublisher.Line {
    @Override
    public boolean isFree() {
      return line.isFree();
    }

    @Override
    public int publish(LocalPublisher.Built object) {
      return line.publish(change.apply(object));
    }

    @Override
    public String failure() {
      return line.failure();
    }

    @Override
    public Throwable cause() {
      return line.cause();
    }
  }

  /** Puts near the end of its stack, until the store has ended. */
  private static final class DeepCaller {
    private final ErdaStore store;
    private final Random random;
    private ErdaClient erda;
    private int depthMax;
    private long sent;
    private long acknowledged;
    private ErdaException ended;

    DeepCaller(ErdaStore store, long seed) {
      this.store = store;
      this.random = new Random(seed);
      this.erda = store.client();
    }

    void run() {
      for (int i = 0; i < 20_000; i++) {
        putNext();
      }
      try {
        measure(0);
      } catch (StackOverflowError e) {
        // It knows now how deep it may go.
      }
      int aim = depthMax;
      boolean overflowed = false;
      for (int i = 0; i < TRIES_MAX && ended == null; i++) {
        try {
          at(Math.max(0, aim - random.nextInt(40)));
          // Compiled code takes less of the stack than the code that measured it.
          aim += overflowed ? random.nextInt(20) : aim / 8;
        } catch (StackOverflowError e) {
          overflowed = true;
          aim -= random.nextInt(40);
          another();
        } catch (ErdaException e) {
          another();
        } catch (RuntimeException e) {
          // A client with an interrupted operation throws an exception that says so.
          aim -= random.nextInt(40);
          another();
        }
      }
      erda.close();
    }

    private void another() {
      erda.close();
      try {
        erda = store.client();
        erda.put(KEY, bytes(++sent));
        acknowledged = sent;
      } catch (ErdaException e) {
        ended = e;
      }
    }

    private void putNext() {
      sent++;
      erda.put(KEY, bytes(sent));
      acknowledged = sent;
    }

    @SuppressWarnings("InfiniteRecursion")
    private void measure(int depth) {
      depthMax = depth;
      measure(depth + 1);
    }

    private void at(int depth) {
      if (depth > 0) {
        at(depth - 1);
      } else {
        putNext();
      }
    }
  }

  @Test
  void aStoreWhoseCallersStackIsFullEndsAndOpensAgain() throws Exception {
    int ends = 0;
    long before = 0;
    long othersBefore = 0;
    for (int round = 0; round < ROUNDS; round++) {
      long seed = SEED + round;
      String ofSeed = "seed " + seed + " (-Derda.seed)";
      ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
      DeepCaller deep;
      long[] others = {othersBefore};
      ErdaException[] heard = new ErdaException[1];
      boolean[] over = new boolean[1];
      try {
        deep = new DeepCaller(store, seed);
        deep.sent = before;
        FutureTask<Throwable> other =
            Threads.start(
                "other",
                () -> {
                  try (ErdaClient erda = store.client()) {
                    for (long i = others[0] + 1; !over(over); i++) {
                      erda.put(OTHER_KEY, bytes(i));
                      others[0] = i;
                    }
                  } catch (ErdaException e) {
                    heard[0] = e;
                  }
                });
        Thread thread = new Thread(null, deep::run, "deep", STACK_BYTES);
        thread.start();
        thread.join();
        over(over, deep.ended == null);
        assertNull(other.get(), ofSeed);
      } finally {
        store.close();
      }
      if (deep.ended != null) {
        ends++;
        assertTells(deep.ended, "stack of a thread is full");
        assertNotNull(heard[0], ofSeed);
        assertTells(heard[0], "stack of a thread is full");
      }
      try (ErdaStore again = ErdaStore.open(data, SmallStore.OPTIONS);
          ErdaClient erda = again.client()) {
        long found = value(erda.get(KEY));
        assertTrue(
            found >= deep.acknowledged && found <= deep.sent,
            () -> ofSeed + ": " + found + " of " + deep.acknowledged + " to " + deep.sent);
        long othersFound = value(erda.get(OTHER_KEY));
        assertTrue(
            othersFound >= others[0] && othersFound <= others[0] + 1,
            () -> ofSeed + ": " + othersFound + " of " + others[0]);
        before = found;
        othersBefore = othersFound;
      }
      assertEquals(List.of(), StoreVerifier.verify(data).findings(), ofSeed);
    }
    assertTrue(ends > 0, "no stack was full in a step of the store");
  }

  private static boolean over(boolean[] over) {
    synchronized (over) {
      return over[0];
    }
  }

  private static void over(boolean[] over, boolean value) {
    synchronized (over) {
      over[0] = value;
    }
  }
}
