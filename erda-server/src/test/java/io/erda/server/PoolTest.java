package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.client.ErdaClientPool;
import io.erda.protocol.ErdaException;
import io.erda.testing.Threads;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A pool of clients and several threads, over the devices that are there. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PoolTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration SHORT = Duration.ofMillis(50);
  private static final int KEYS = 50;

  @TempDir Path data;

  private static byte[] key(int i) {
    return ("key-" + i).getBytes(UTF_8);
  }

  private static byte[] value(int i) {
    return ("value of key " + i + " ").repeat(1 + i % 30).getBytes(UTF_8);
  }

  private static ErdaClientPool pool(String uri, int clientsMax, Duration timeout) {
    return new ErdaClientPool(() -> ErdaClient.connect(uri), clientsMax, timeout);
  }

  private static void fill(ErdaClientPool pool) {
    for (int i = 0; i < KEYS; i++) {
      pool.put(key(i), value(i));
    }
  }

  /**
   * Found by a review: with thousands of threads on two cores a pool opened up to 21 clients where
   * 2 were allowed, forgot them, and threw {@code WrongThreadException}.
   */
  @Test
  void aPoolOfManyMoreThreadsThanCoresMakesNoMoreClientsThanItMay() throws Exception {
    try (ErdaStore store = ErdaStore.open(data.resolve("embedded"), SmallStore.OPTIONS)) {
      AtomicInteger opened = new AtomicInteger();
      Supplier<ErdaClient> connect =
          () -> {
            opened.incrementAndGet();
            return store.client();
          };
      try (ErdaClientPool pool = new ErdaClientPool(connect, 1, LONG)) {
        fill(pool);
        AtomicInteger failed = new AtomicInteger();
        long endNs = System.nanoTime() + Duration.ofSeconds(4).toNanos();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 1500; i++) {
          int at = i % KEYS;
          threads.add(
              Thread.ofPlatform()
                  .start(() -> {
                    while (System.nanoTime() < endNs) {
                      try {
                        pool.get(key(at));
                      } catch (WrongThreadException e) {
                        failed.incrementAndGet();
                      }
                    }
                  }));
        }
        for (Thread each : threads) {
          each.join();
        }
        assertEquals(0, failed.get());
        assertEquals(1, opened.get());
      }
    }
  }

  @Test
  void threadsShareAPoolThatIsSmallerThanThey() throws Exception {
    try (ErdaStore store = ErdaStore.open(data.resolve("embedded"), SmallStore.OPTIONS);
        ErdaClientPool pool = new ErdaClientPool(store::client, 2, LONG)) {
      share(pool, 2);
    }
    try (ErdaServer server = ErdaServer.start(data.resolve("served"), SmallStore.OPTIONS)) {
      for (int clients : new int[] {1, 2, 8}) {
        try (ErdaClientPool pool = pool(server.uri(), clients, LONG)) {
          share(pool, clients);
        }
      }
    }
  }

  private static void share(ErdaClientPool pool, int clients) throws Exception {
    assertEquals(0, pool.clients(), "nothing is connected before it is needed");
    fill(pool);
    assertEquals(1, pool.clients(), "one thread needs one connection");
    List<FutureTask<Throwable>> users = new ArrayList<>();
    for (int user = 0; user < 4; user++) {
      int own = 1000 + user;
      users.add(
          Threads.start(
              "user",
              () -> {
                for (int i = 0; i < 3_000; i++) {
                  int k = (i + own) % KEYS;
                  assertEquals(new String(value(k), UTF_8), new String(pool.get(key(k)), UTF_8));
                  if (i % 50 == 0) {
                    pool.put(key(own), value(i));
                    assertEquals(
                        new String(value(i), UTF_8), new String(pool.get(key(own)), UTF_8));
                    assertTrue(pool.delete(key(own)));
                    assertNull(pool.getAll(List.of(key(0), key(own))).get(1));
                  }
                }
              }));
    }
    for (FutureTask<Throwable> user : users) {
      Throwable thrown = user.get();
      assertNull(thrown, () -> String.valueOf(thrown));
    }
    assertTrue(pool.clients() <= clients, () -> pool.clients() + " clients");
  }

  /** No two threads have the same client. */
  @Test
  void aClientIsLentToOneAtATime() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
        ErdaClientPool pool = pool(server.uri(), 3, LONG)) {
      java.util.Set<ErdaClient> lent = java.util.concurrent.ConcurrentHashMap.newKeySet();
      List<FutureTask<Throwable>> users = new ArrayList<>();
      for (int user = 0; user < 6; user++) {
        users.add(
            Threads.start(
                "user",
                () -> {
                  for (int i = 0; i < 1_000; i++) {
                    try (ErdaClientPool.Lent each = pool.borrow()) {
                      assertTrue(lent.add(each.client()), "lent twice");
                      if (i % 100 == 0) {
                        Thread.sleep(2);
                      }
                      each.client().get(key(i));
                      lent.remove(each.client());
                    }
                  }
                }));
      }
      for (FutureTask<Throwable> user : users) {
        Throwable thrown = user.get();
        assertNull(thrown, () -> String.valueOf(thrown));
      }
    }
  }

  @Test
  void whoFindsNoneIsToldAfterTheTimeOut() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
        ErdaClientPool pool = pool(server.uri(), 1, SHORT)) {
      ErdaClientPool.Lent lent = pool.borrow();
      ErdaException.Unavailable told =
          assertThrows(ErdaException.Unavailable.class, () -> pool.get(key(0)));
      assertTrue(told.getMessage().contains("no client was free"), told.getMessage());
      lent.close();
      assertThrows(IllegalStateException.class, lent::client);
      assertNull(pool.get(key(0)));
      lent.close();
      try (ErdaClientPool.Lent again = pool.borrow()) {
        assertNull(again.client().get(key(0)), "given back once, although it was closed twice");
        assertThrows(ErdaException.Unavailable.class, pool::borrow);
      }
    }
  }

  @Test
  void anInterruptEndsNoWaitAndStays() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
        ErdaClientPool pool = pool(server.uri(), 1, LONG)) {
      ErdaClientPool.Lent lent = pool.borrow();
      AtomicBoolean stayed = new AtomicBoolean();
      Thread waiting =
          new Thread(() -> {
            pool.put(key(1), value(1));
            stayed.set(Thread.currentThread().isInterrupted());
          });
      waiting.start();
      while (waiting.getState() != Thread.State.TIMED_WAITING) {
        Thread.onSpinWait();
      }
      waiting.interrupt();
      Thread.sleep(20);
      assertTrue(waiting.isAlive());
      lent.close();
      waiting.join();
      assertTrue(stayed.get());
      assertEquals(new String(value(1), UTF_8), new String(pool.get(key(1)), UTF_8));
    }
  }

  @Test
  void aClientThatWasClosedIsReplaced() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
        ErdaClientPool pool = pool(server.uri(), 1, SHORT)) {
      fill(pool);
      ErdaClient first = pool.with(client -> client);
      assertSame(first, pool.<ErdaClient>with(client -> client));
      first.close();
      assertEquals(0, pool.clients());
      assertEquals(new String(value(1), UTF_8), new String(pool.get(key(1)), UTF_8));
      ErdaClient second = pool.with(client -> client);
      assertNotSame(first, second);
      assertThrows(
          StackOverflowError.class,
          () ->
              pool.with(client -> {
                throw new StackOverflowError();
              }));
      assertNotSame(second, pool.<ErdaClient>with(client -> client));
      assertThrows(
          IllegalArgumentException.class,
          () ->
              pool.with(client -> {
                throw new IllegalArgumentException();
              }));
      assertEquals(1, pool.clients(), "what the caller throws is no fault of the client's");
    }
  }

  /** The next borrower got WrongThreadException, and every one after it. */
  @Test
  void aClientThatAnotherThreadGivesBackIsReplaced() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
        ErdaClientPool pool = pool(server.uri(), 1, LONG)) {
      ErdaClientPool.Lent lent = pool.borrow();
      assertNull(lent.client().get(key(0)));
      assertNull(Threads.run("other", lent::close));
      assertNull(Threads.run("third", () -> assertNull(pool.get(key(0)))));
      assertNull(pool.get(key(0)));
    }
  }

  @Test
  void aPoolMakesDoWithTheConnectionsThatTheServerHasRoomFor() throws Exception {
    ServerOptions three = SmallStore.OPTIONS.withConnectionsMax(3);
    try (ErdaServer server = ErdaServer.start(data, three);
        ErdaClientPool pool = pool(server.uri(), 16, LONG)) {
      fill(pool);
      CountDownLatch begin = new CountDownLatch(1);
      List<FutureTask<Throwable>> users = new ArrayList<>();
      for (int user = 0; user < 8; user++) {
        users.add(
            Threads.start(
                "user",
                () -> {
                  begin.await();
                  for (int i = 0; i < 100; i++) {
                    int k = i % KEYS;
                    String got =
                        pool.with(client -> {
                          Thread.yield();
                          return new String(client.get(key(k)), UTF_8);
                        });
                    assertEquals(new String(value(k), UTF_8), got);
                  }
                }));
      }
      begin.countDown();
      for (FutureTask<Throwable> user : users) {
        Throwable thrown = user.get();
        assertNull(thrown, () -> String.valueOf(thrown));
      }
      assertTrue(pool.clients() <= 3, () -> pool.clients() + " clients");
    }
  }

  /** A borrower tried to connect again and again, for ever. */
  @Test
  void whoFindsNoRoomAtTheServerIsToldAfterTheTimeOut() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS.withConnectionsMax(1))) {
      try (ErdaClientPool pool = pool(server.uri(), 4, Duration.ofMillis(1500));
          ErdaClientPool.Lent lent = pool.borrow()) {
        assertNull(lent.client().get(key(0)));
        ErdaException.Unavailable told =
            assertThrows(ErdaException.Unavailable.class, () -> pool.get(key(0)));
        assertTrue(told.getMessage().contains("no client was free"), told.getMessage());
        try (ErdaClientPool other = pool(server.uri(), 4, SHORT)) {
          assertThrows(ErdaException.Full.class, other::borrow);
        }
      }
    }
  }

  /** Found by a tester: ArithmeticException, and NullPointerException. */
  @Test
  void aBorrowTimeoutIsATimeThatCanBeCounted() throws Exception {
    Duration longest = Duration.ofNanos(Long.MAX_VALUE);
    for (Duration bad :
        new Duration[] {
          null,
          Duration.ofNanos(-1),
          longest.plusNanos(1),
          Duration.ofSeconds(Long.MAX_VALUE),
          Duration.ofSeconds(Long.MIN_VALUE)
        }) {
      ErdaException.BadArgument thrown =
          assertThrows(ErdaException.BadArgument.class, () -> pool("erda+shm:/x", 1, bad));
      assertTrue(thrown.getMessage().contains("borrow timeout " + bad), thrown.getMessage());
    }
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
        ErdaClientPool pool = pool(server.uri(), 1, longest)) {
      assertNull(pool.get(key(0)));
      ErdaClientPool.Lent lent = pool.borrow();
      FutureTask<Throwable> waiter = Threads.start("waiter", () -> pool.get(key(0)));
      lent.close();
      assertNull(waiter.get());
    }
  }

  /** Found by a tester: the exception told nothing about the pool. */
  @Test
  void aSupplierThatReturnsNullIsNamed() {
    try (ErdaClientPool pool = new ErdaClientPool(() -> null, 1, SHORT)) {
      for (int i = 0; i < 2; i++) {
        NullPointerException thrown =
            assertThrows(
                NullPointerException.class, () -> pool.get(key(0)), "again: no place is lost");
        assertEquals("the pool's supplier of clients returned null", thrown.getMessage());
      }
    }
  }

  @Test
  void aPoolIsClosedInTheMiddleOfCalls() throws Exception {
    try (ErdaStore store = ErdaStore.open(data.resolve("embedded"), SmallStore.OPTIONS)) {
      closeInTheMiddle(() -> new ErdaClientPool(store::client, 2, LONG));
    }
    try (ErdaServer server = ErdaServer.start(data.resolve("served"), SmallStore.OPTIONS)) {
      closeInTheMiddle(() -> pool(server.uri(), 2, LONG));
    }
  }

  private static void closeInTheMiddle(Supplier<ErdaClientPool> make) throws Exception {
    for (int round = 0; round < 20; round++) {
      ErdaClientPool pool = make.get();
      fill(pool);
      CountDownLatch begun = new CountDownLatch(3);
      List<FutureTask<Throwable>> users = new ArrayList<>();
      for (int user = 0; user < 3; user++) {
        users.add(
            Threads.start(
                "user",
                () -> {
                  for (int i = 0; ; i++) {
                    int k = i % KEYS;
                    if (i % 4 == 0) {
                      pool.put(key(k), value(k));
                    }
                    assertEquals(new String(value(k), UTF_8), new String(pool.get(key(k)), UTF_8));
                    if (i == 10) {
                      begun.countDown();
                    }
                  }
                }));
      }
      begun.await();
      pool.close();
      pool.close();
      for (FutureTask<Throwable> user : users) {
        Throwable e = user.get();
        assertTrue(
            e instanceof IllegalStateException || e instanceof ErdaException.OutcomeUnknown,
            () -> "ended with " + e);
      }
      assertEquals(0, pool.clients());
      assertThrows(IllegalStateException.class, () -> pool.get(key(0)));
      assertThrows(IllegalStateException.class, pool::borrow);
    }
  }

  @Test
  void whoWaitsForAClientHearsThatThePoolIsClosed() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS)) {
      ErdaClientPool pool = pool(server.uri(), 1, LONG);
      ErdaClientPool.Lent lent = pool.borrow();
      CountDownLatch begun = new CountDownLatch(1);
      FutureTask<Throwable> waiting =
          Threads.start(
              "waiting",
              () -> {
                begun.countDown();
                pool.get(key(0));
              });
      begun.await();
      Thread.sleep(20);
      pool.close();
      assertInstanceOf(IllegalStateException.class, waiting.get());
      assertThrows(IllegalStateException.class, () -> lent.client().get(key(0)));
      lent.close();
    }
  }

  @Test
  void aServerThatIsKilledAndStartedAgainIsFoundByEveryClient() throws Exception {
    Path served = data.resolve("store");
    AtomicInteger answered = new AtomicInteger();
    AtomicBoolean end = new AtomicBoolean();
    ServedElsewhere first = ServedElsewhere.start(served);
    try (ErdaClientPool pool = pool("erda+shm:" + served.toAbsolutePath(), 2, LONG)) {
      fill(pool);
      List<FutureTask<Throwable>> users = new ArrayList<>();
      for (int user = 0; user < 3; user++) {
        int own = 100 + user;
        users.add(
            Threads.start(
                "user",
                () -> {
                  for (int i = 0; !end.get(); i++) {
                    int k = i % KEYS;
                    try {
                      pool.put(key(own), value(i));
                      assertEquals(
                          new String(value(k), UTF_8), new String(pool.get(key(k)), UTF_8));
                      answered.incrementAndGet();
                    } catch (ErdaException.Unavailable | ErdaException.OutcomeUnknown e) {
                      Thread.sleep(1);
                    }
                  }
                }));
      }
      while (answered.get() < 100) {
        Thread.sleep(1);
      }
      first.kill();
      first.close();
      try (ServedElsewhere second = ServedElsewhere.start(served)) {
        assertTrue(second.isServing());
        int before = answered.get();
        while (answered.get() < before + 100 && users.stream().noneMatch(FutureTask::isDone)) {
          Thread.sleep(1);
        }
        end.set(true);
        for (FutureTask<Throwable> user : users) {
          Throwable thrown = user.get();
          assertNull(thrown, () -> String.valueOf(thrown));
        }
        assertFalse(pool.clients() > 2);
      }
    }
  }
}
