package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.cleaner.LiveBytes;
import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.logstore.ObjectLayout;
import io.erda.protocol.ErdaException;
import io.erda.server.engine.service.ServerCore;
import io.erda.testing.Threads;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The clients of an embedded store take the server's steps, in threads of their own. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CallersStepsTest {
  private static final long SEED = Long.getLong("erda.seed", 20261122L);

  /** Cleaning, new regions and doublings of the table all happen during the test. */
  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS
          .withRegionBytes(1 << 20)
          .withSegmentBytes(1 << 16)
          .withCapacityBytes(32 << 20)
          .withBuckets(64);

  @TempDir Path data;

  /** Each thread has its own keys, and always reads the value that it wrote last. */
  @Test
  void threadsThatStepForEachOtherLoseNothing() throws Exception {
    int threads = 4;
    int keys = 500;
    int[][] versions = new int[threads][keys];
    try (ErdaStore store = ErdaStore.open(data, SMALL)) {
      List<FutureTask<Throwable>> running = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        int thread = t;
        running.add(
            Threads.start(
                "client " + t,
                () -> {
                  Random random = new Random(SEED + thread);
                  try (ErdaClient erda = store.client()) {
                    for (int i = 0; i < 20_000; i++) {
                      int key = random.nextInt(keys);
                      int version = ++versions[thread][key];
                      erda.put(key(thread, key), value(thread, key, version));
                      int other = random.nextInt(keys);
                      byte[] expected =
                          versions[thread][other] == 0
                              ? null
                              : value(thread, other, versions[thread][other]);
                      assertArrayEquals(expected, erda.get(key(thread, other)));
                    }
                  }
                }));
      }
      for (FutureTask<Throwable> each : running) {
        assertNull(each.get());
      }
      try (ErdaClient erda = store.client()) {
        assertTrue(erda.stats().get("cleaner.cleanings") > 10, () -> erda.stats().toString());
      }
    }
    try (ErdaStore store = ErdaStore.open(data, SMALL);
        ErdaClient erda = store.client()) {
      for (int t = 0; t < threads; t++) {
        for (int key = 0; key < keys; key++) {
          int version = versions[t][key];
          byte[] expected = version == 0 ? null : value(t, key, version);
          assertArrayEquals(expected, erda.get(key(t, key)));
        }
      }
    }
    assertEquals(List.of(), StoreVerifier.verify(data).findings());
  }

  /** A thread that stays in the turn, as one does that a debugger has stopped in its commit. */
  private static final class Staying extends StepTurn.Sharer {
    @Override
    void takeNote() {}

    @Override
    boolean isGone() {
      return false;
    }
  }

  /**
   * One thread is stopped within a commit. The calls of the others end with their time-outs: the
   * first one that wanted the turn alone waited for as long as the stop took.
   */
  @Test
  void callsEndWhileAThreadIsStoppedWithinItsCommit() throws Exception {
    EmbeddedRig rig = EmbeddedRig.open(data, SMALL, System::nanoTime, new Failures());
    StepTurn turn = rig.steps().turn;
    Staying stopped = new Staying();
    turn.take();
    turn.add(stopped);
    turn.release();
    try (ErdaClient erda =
        ErdaClient.over(
            rig.network().device(),
            "erda",
            ClientOptions.DEFAULT.withOperationTimeout(Duration.ofSeconds(2)),
            System::nanoTime,
            rig.steps())) {
      erda.put(key(0, 0), value(0, 0, 1));
      while (!stopped.enter(turn)) {
        Thread.onSpinWait();
      }
      for (int i = 1; i < 3; i++) {
        int key = i;
        long begunNs = System.nanoTime();
        // The key is new, so its put needs the turn alone.
        assertThrows(
            ErdaException.Unavailable.class, () -> erda.put(key(0, key), value(0, key, 1)));
        assertTrue(System.nanoTime() - begunNs < 20_000_000_000L, "a call waits for the stopped");
      }
      stopped.leave();
      erda.put(key(0, 3), value(0, 3, 1));
      assertArrayEquals(value(0, 3, 1), erda.get(key(0, 3)));
    }
    rig.server().close();
    assertNull(rig.server().await());
  }

  /**
   * Threads put the same few keys, and commit by themselves. Nobody sees a thread's values in
   * another order than it put them, or one that was replaced before the read began, and in the end
   * the live bytes are right.
   */
  @Test
  void threadsThatPutTheSameKeysSeeOneOrder() throws Exception {
    int threads = 4;
    int keys = 2;
    AtomicLongArray completed = new AtomicLongArray(threads * keys);
    EmbeddedRig rig = EmbeddedRig.open(data, SMALL, System::nanoTime, new Failures());
    List<FutureTask<Throwable>> running = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      int thread = t;
      running.add(
          Threads.start("client " + t, () -> putAndSee(rig, thread, threads, keys, completed)));
    }
    for (FutureTask<Throwable> each : running) {
      assertNull(each.get());
    }
    try (ErdaClient erda = client(rig)) {
      Map<String, Long> figures = erda.stats();
      assertEquals((long) threads * HOT_PUTS, figures.get("puts"));
      assertTrue(figures.get("puts.shared") > threads * HOT_PUTS / 10, figures::toString);
      assertTrue(figures.get("cleaner.cleanings") > 10, figures::toString);
      for (int key = 0; key < keys; key++) {
        byte[] last = erda.get(key(9, key));
        assertEquals(completed.get(last[0] * keys + key), sequence(last), "key " + key);
      }
    }
    rig.server().close();
    assertNull(rig.server().await());
    LiveBytes live = rig.steps().core.writer().live();
    assertTrue(live.known());
    long counted = 0;
    try (ErdaStore store = ErdaStore.open(data, SMALL);
        ErdaClient erda = store.client()) {
      for (int key = 0; key < keys; key++) {
        int value = erda.get(key(9, key)).length;
        counted += ObjectLayout.padded(ObjectLayout.bytes(8, value));
      }
    }
    assertEquals(counted, live.total(), "live bytes");
    assertEquals(List.of(), StoreVerifier.verify(data).findings());
  }

  private static ErdaClient client(EmbeddedRig rig) {
    return ErdaClient.over(
        rig.network().device(), "erda", ClientOptions.DEFAULT, System::nanoTime, rig.steps());
  }

  private static final int HOT_PUTS = 40_000;

  private static void putAndSee(
      EmbeddedRig rig, int thread, int threads, int keys, AtomicLongArray completed) {
    Random random = new Random(SEED + thread);
    long[] seen = new long[threads * keys];
    try (ErdaClient erda = client(rig)) {
      for (int i = 1; i <= HOT_PUTS; i++) {
        int key = random.nextInt(keys);
        byte[] value = new byte[9 + random.nextInt(500)];
        value[0] = (byte) thread;
        ByteBuffer.wrap(value).putLong(1, i);
        erda.put(key(9, key), value);
        completed.set(thread * keys + key, i);
        int other = random.nextInt(keys);
        long[] before = new long[threads];
        for (int t = 0; t < threads; t++) {
          before[t] = completed.get(t * keys + other);
        }
        byte[] found = erda.get(key(9, other));
        if (found == null) {
          continue;
        }
        int by = found[0];
        long sequence = sequence(found);
        assertTrue(sequence >= before[by], "a value that its own thread had replaced");
        assertTrue(sequence >= seen[by * keys + other], "values of a thread in another order");
        seen[by * keys + other] = sequence;
      }
    }
  }

  private static long sequence(byte[] value) {
    return ByteBuffer.wrap(value).getLong(1);
  }

  /** Closing a store ends the steps of callers, and no thread waits for one. */
  @Test
  void aStoreIsClosedUnderThoseWhoStep() throws Exception {
    for (int round = 0; round < 50; round++) {
      ErdaStore store = ErdaStore.open(data, SMALL);
      AtomicBoolean begun = new AtomicBoolean();
      List<FutureTask<Throwable>> running = new ArrayList<>();
      for (int t = 0; t < 2; t++) {
        int thread = t;
        running.add(
            Threads.start(
                "client " + t,
                () -> {
                  try (ErdaClient erda = store.client()) {
                    for (int i = 0; ; i++) {
                      erda.put(key(thread, i % 100), value(thread, i % 100, i));
                      begun.set(true);
                    }
                  }
                }));
      }
      while (!begun.get()) {
        Thread.onSpinWait();
      }
      store.close();
      for (FutureTask<Throwable> each : running) {
        assertInstanceOf(ErdaException.class, each.get());
      }
    }
    assertEquals(List.of(), StoreVerifier.verify(data).findings());
  }

  /** An idle server's thread is not woken for a put: the caller's thread has done it. */
  @Test
  void aPutWakesNobody() throws Exception {
    try (ErdaStore store = ErdaStore.open(data);
        ErdaClient erda = store.client()) {
      for (int i = 0; i < 10_000; i++) {
        erda.put(key(0, 1), value(0, 1, i));
      }
      Thread server = serverThread();
      // It works off what the first puts left to do.
      Thread.sleep(200);
      long before = sleeps(server);
      for (int i = 0; i < 2_000; i++) {
        erda.put(key(0, 1), value(0, 1, i));
      }
      long sleeps = sleeps(server) - before;
      assertTrue(sleeps < 100, () -> "the server's thread slept " + sleeps + " times");
    }
  }

  /**
   * A step of the server's thread that fails is the last one, and the end of the steps does not
   * wait for the turn that it never gave back.
   */
  @Test
  void nobodyStepsAfterAStepThatFailed() {
    AtomicBoolean fails = new AtomicBoolean();
    AtomicInteger wakeups = new AtomicInteger();
    try (OpenedStore store = OpenedStore.open(data, SMALL, OpenedStore.Purpose.HOLD)) {
      ServerCore core =
          new ServerCore(
              store.engine(),
              ServerAssembly.serviceOptions(SMALL),
              () -> {
                if (fails.get()) {
                  throw new IllegalStateException("no time");
                }
                return System.nanoTime();
              });
      SharedSteps steps = new SharedSteps(core, wakeups::incrementAndGet, System::nanoTime);
      steps.doWork();
      fails.set(true);
      assertEquals(
          "no time", assertThrows(IllegalStateException.class, steps::doWork).getMessage());
      fails.set(false);
      steps.help();
      assertEquals(0, wakeups.get());
      assertThrows(IllegalStateException.class, steps::arm);
      // The thread that ends the steps gets the failure. Otherwise it would close a failed store in
      // order.
      assertThrows(IllegalStateException.class, steps::end);
    }
  }

  /**
   * A step fails in the thread of a client: the server ends in its thread, reports the reason, and
   * leaves a store that is whole and not locked.
   */
  @Test
  void aStoreWhoseStepFailedInACallersThreadIsClosed() throws Exception {
    AtomicReference<Thread> failing = new AtomicReference<>();
    EmbeddedRig rig =
        EmbeddedRig.open(
            data,
            SMALL,
            () -> {
              if (Thread.currentThread() == failing.get()) {
                throw new IllegalStateException("no time");
              }
              return System.nanoTime();
            },
            new Failures());
    ServerThread server = rig.server();
    try (ErdaClient erda =
        ErdaClient.over(rig.network().device(), "erda", ClientOptions.DEFAULT, System::nanoTime)) {
      erda.put(key(0, 1), value(0, 1, 1));
      failing.set(Thread.currentThread());
      assertThrows(
          ErdaException.class,
          () -> {
            // The server's thread takes the step itself as long as it is awake.
            while (true) {
              erda.put(key(0, 2), value(0, 2, 1));
            }
          });
      failing.set(null);
      server.close();
      assertEquals("no time", server.await().getMessage());
      assertThrows(ErdaException.Unavailable.class, () -> server.figures(Duration.ofMinutes(1)));
      assertThrows(ErdaException.class, () -> erda.put(key(0, 3), value(0, 3, 1)));
    }
    try (ErdaStore again = ErdaStore.open(data, SMALL);
        ErdaClient erda = again.client()) {
      assertArrayEquals(value(0, 1, 1), erda.get(key(0, 1)));
    }
    assertEquals(List.of(), StoreVerifier.verify(data).findings());
  }

  private static Thread serverThread() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("erda-server"))
        .findFirst()
        .orElseThrow();
  }

  /** How often a thread has waited for something, which is how often it was woken. */
  private static long sleeps(Thread thread) {
    return ManagementFactory.getThreadMXBean().getThreadInfo(thread.threadId()).getWaitedCount();
  }

  private static byte[] key(int thread, int key) {
    return ByteBuffer.allocate(8).putInt(thread).putInt(key).array();
  }

  private static byte[] value(int thread, int key, int version) {
    byte[] value = new byte[200 + (key * 31 + version * 7) % 800];
    new Random((long) thread << 40 ^ (long) key << 20 ^ version).nextBytes(value);
    return value;
  }
}
