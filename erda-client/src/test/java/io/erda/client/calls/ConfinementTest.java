package io.erda.client.calls;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaAsyncClient;
import io.erda.client.ErdaClient;
import io.erda.client.FakeStore;
import io.erda.client.OperationHandler;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.testing.Threads;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests which thread may call a client, and how a client is closed during a call. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ConfinementTest {
  /** Longer in virtual time than a test may take. */
  private static final ClientOptions PATIENT =
      ClientOptions.DEFAULT.withOperationTimeout(Duration.ofHours(20));

  private final FakeStore store = new FakeStore();

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private ErdaClient client() {
    return ErdaClient.over(store.clientDevice, FakeStore.ADDRESS, PATIENT, store);
  }

  @Test
  void secondThreadIsToldWhoOwnsTheClient() throws Exception {
    try (ErdaClient erda = client()) {
      erda.put(bytes("a"), bytes("1"));
      List<Threads.Work> calls =
          List.of(
              () -> erda.get(bytes("a")),
              () -> erda.put(bytes("a"), bytes("2")),
              () -> erda.delete(bytes("a")),
              erda::stats,
              erda::handOver);
      for (Threads.Work call : calls) {
        Throwable e = Threads.run("second", call);
        assertInstanceOf(WrongThreadException.class, e);
        assertTrue(e.getMessage().contains("thread \"second\" (#"), e.getMessage());
        String owner = Confinement.name(Thread.currentThread());
        assertTrue(e.getMessage().contains(owner), e.getMessage());
      }
      assertNull(Threads.run("second", erda::statistics));
      assertNull(Threads.run("second", erda::promise));
      assertEquals("1", new String(erda.get(bytes("a")), UTF_8));
    }
  }

  @Test
  void clientIsHandedOver() throws Exception {
    try (ErdaClient erda = client()) {
      // The connecting thread is not the owner yet.
      assertNull(Threads.run("first", () -> erda.put(bytes("a"), bytes("1"))));
      // The owner has ended.
      erda.put(bytes("a"), bytes("2"));
      assertInstanceOf(
          WrongThreadException.class,
          Threads.run("second", () -> erda.put(bytes("a"), bytes("3"))));
      erda.handOver();
      CountDownLatch put = new CountDownLatch(1);
      CountDownLatch end = new CountDownLatch(1);
      FutureTask<Throwable> third =
          Threads.start(
              "third",
              () -> {
                erda.put(bytes("a"), bytes("4"));
                put.countDown();
                Threads.await(end);
                erda.handOver();
              });
      Threads.await(put);
      assertThrows(WrongThreadException.class, () -> erda.get(bytes("a")));
      end.countDown();
      assertNull(third.get());
      assertNull(
          Threads.run("fourth", () -> assertEquals("4", new String(erda.get(bytes("a")), UTF_8))));
    }
  }

  /**
   * Two threads were inside at once, and each got the other's answer. Here both call a client
   * without an owner, at the same moment, and the one that gets it stays inside until both have
   * tried.
   */
  @Test
  void ofTwoThreadsOneGetsAClientThatNobodyOwns() throws Exception {
    int rounds = 10_000;
    Confinement[] clients = new Confinement[rounds];
    for (int round = 0; round < rounds; round++) {
      clients[round] = new Confinement();
      clients[round].handOver();
    }
    AtomicInteger arrived = new AtomicInteger();
    AtomicInteger inside = new AtomicInteger();
    Threads.Work work =
        () -> {
          for (int round = 0; round < rounds; round++) {
            meet(arrived, 4 * round + 2);
            try {
              clients[round].enter();
              inside.incrementAndGet();
            } catch (WrongThreadException e) {
              // The other one has it.
            }
            meet(arrived, 4 * round + 4);
          }
        };
    FutureTask<Throwable> other = Threads.start("other", work);
    assertNull(Threads.run("one", work));
    assertNull(other.get());
    assertEquals(rounds, inside.get());
  }

  /** Waits until that many have arrived since the beginning, this thread included. */
  private static void meet(AtomicInteger arrived, int count) {
    arrived.incrementAndGet();
    for (int turns = 0; arrived.get() < count; turns++) {
      if (turns < 1000) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
    }
  }

  /**
   * The thread that closes and the one that enters never miss each other. Earlier stores of the
   * entering thread wait for memory, so its store that it is inside becomes visible late: without a
   * fence in all threads the closing thread would not see it.
   */
  @Test
  void nobodyIsInsideWhenAClientIsClosed() throws Exception {
    long[] elsewhere = new long[1 << 24];
    for (int round = 0; round < 2_000; round++) {
      Confinement confinement = new Confinement();
      confinement.handOver();
      AtomicBoolean ended = new AtomicBoolean();
      CountDownLatch begun = new CountDownLatch(1);
      FutureTask<Throwable> user =
          Threads.start(
              "user",
              () -> {
                int at = 1;
                for (int i = 0; ; i++) {
                  for (int store = 0; store < 8; store++) {
                    at = at * 1_103_515_245 + 12_345;
                    elsewhere[at >>> 8] = at;
                  }
                  try {
                    confinement.enter();
                  } catch (IllegalStateException e) {
                    return;
                  }
                  for (int look = 0; look < 1_000; look++) {
                    if (ended.get()) {
                      throw new AssertionError("inside a closed client");
                    }
                  }
                  confinement.leave();
                  if (i == 100) {
                    begun.countDown();
                  }
                }
              });
      Threads.await(begun);
      confinement.close(() -> {}, () -> ended.set(true));
      assertNull(user.get());
    }
  }

  /** A thread that closes wakes the one that is inside, and waits until it has left. */
  @Test
  void whoClosesWaitsForTheOneInside() throws Exception {
    Confinement confinement = new Confinement();
    confinement.handOver();
    AtomicBoolean woken = new AtomicBoolean();
    AtomicBoolean ended = new AtomicBoolean();
    CountDownLatch entered = new CountDownLatch(1);
    FutureTask<Throwable> user =
        Threads.start(
            "user",
            () -> {
              assertTrue(confinement.enter());
              entered.countDown();
              while (!woken.get() && !ended.get()) {
                Thread.onSpinWait();
              }
              assertFalse(ended.get(), "closed while a thread is inside");
              confinement.leave();
            });
    Threads.await(entered);
    confinement.close(() -> woken.set(true), () -> ended.set(true));
    assertNull(user.get());
    assertTrue(ended.get());
  }

  /** Two threads close: what the one that comes later does next may rely on the end. */
  @Test
  void whoClosesLaterReturnsWhenTheClientIsClosed() throws Exception {
    Confinement confinement = new Confinement();
    CountDownLatch ending = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    AtomicBoolean ended = new AtomicBoolean();
    FutureTask<Throwable> first =
        Threads.start(
            "first",
            () ->
                confinement.close(
                    () -> {},
                    () -> {
                      ending.countDown();
                      Threads.await(end);
                      ended.set(true);
                    }));
    Threads.await(ending);
    AtomicBoolean endedBefore = new AtomicBoolean();
    Thread later =
        new Thread(
            () -> {
              confinement.close(() -> {}, () -> {});
              endedBefore.set(ended.get());
            },
            "later");
    later.start();
    while (later.getState() != Thread.State.TIMED_WAITING && later.isAlive()) {
      Thread.onSpinWait();
    }
    end.countDown();
    later.join();
    assertNull(first.get());
    assertTrue(endedBefore.get());
  }

  /** Found by a test: every later close of another thread waited for ever. */
  @Test
  void whoClosesAfterAnErrorDoesTheRest() throws Exception {
    Confinement confinement = new Confinement();
    confinement.handOver();
    AtomicInteger ends = new AtomicInteger();
    Runnable end =
        () -> {
          if (ends.incrementAndGet() == 1) {
            throw new StackOverflowError("made up");
          }
        };
    Throwable thrown = Threads.run("first", () -> confinement.close(() -> {}, end));
    assertInstanceOf(StackOverflowError.class, thrown);
    assertNull(Threads.run("second", () -> assertTrue(confinement.close(() -> {}, end))));
    assertFalse(confinement.close(() -> {}, end));
    assertEquals(2, ends.get());
  }

  @Test
  void aThreadThatFailedToCloseClosesAgain() {
    Confinement confinement = new Confinement();
    AtomicInteger ends = new AtomicInteger();
    Runnable end =
        () -> {
          if (ends.incrementAndGet() == 1) {
            throw new OutOfMemoryError("made up");
          }
        };
    assertThrows(OutOfMemoryError.class, () -> confinement.close(() -> {}, end));
    assertTrue(confinement.close(() -> {}, end));
    assertEquals(2, ends.get());
  }

  @Test
  void whoWaitsForAClosingThatFailsDoesTheRest() throws Exception {
    Confinement confinement = new Confinement();
    CountDownLatch ending = new CountDownLatch(1);
    CountDownLatch fail = new CountDownLatch(1);
    AtomicBoolean ended = new AtomicBoolean();
    FutureTask<Throwable> first =
        Threads.start(
            "first",
            () ->
                confinement.close(
                    () -> {},
                    () -> {
                      ending.countDown();
                      Threads.await(fail);
                      throw new StackOverflowError("made up");
                    }));
    Threads.await(ending);
    Thread later = new Thread(() -> confinement.close(() -> {}, () -> ended.set(true)), "later");
    later.start();
    while (later.getState() != Thread.State.TIMED_WAITING && later.isAlive()) {
      Thread.onSpinWait();
    }
    fail.countDown();
    later.join();
    assertInstanceOf(StackOverflowError.class, first.get());
    assertTrue(ended.get());
  }

  /** An error kept the thread from leaving its call. */
  @Test
  void aThreadThatEndedInsideIsNotWaitedFor() throws Exception {
    Confinement confinement = new Confinement();
    confinement.handOver();
    assertNull(Threads.run("user", () -> assertTrue(confinement.enter())));
    AtomicBoolean ended = new AtomicBoolean();
    assertTrue(confinement.close(() -> {}, () -> ended.set(true)));
    assertTrue(ended.get());
  }

  /** The first call of close() ends with an error, and the next one releases the rest. */
  @Test
  void aClientIsClosedAlthoughTheFirstTryFailed() throws Exception {
    ErdaClient erda = client();
    erda.put(bytes("a"), bytes("1"));
    store.clientDevice.last.failsToClose = true;
    assertInstanceOf(StackOverflowError.class, Threads.run("first", erda::close));
    assertFalse(store.clientDevice.last.closed);
    assertNull(Threads.run("second", erda::close));
    assertTrue(store.clientDevice.last.closed);
    assertThrows(IllegalStateException.class, () -> erda.get(bytes("a")));
  }

  @Test
  void closingEndsAPutThatWaits() throws Exception {
    ErdaClient erda = client();
    store.answer = (type, request) -> type == Message.PUBLISH ? FakeStore.SILENCE : Result.OK;
    FutureTask<Throwable> put = Threads.start("putter", () -> erda.put(bytes("a"), bytes("1")));
    while (!store.requests.contains(Message.PUBLISH)) {
      Thread.onSpinWait();
    }
    erda.close();
    Throwable e = put.get();
    assertInstanceOf(ErdaException.OutcomeUnknown.class, e);
    assertTrue(e.getMessage().contains("the client was closed"), e.getMessage());
    assertTrue(store.clientDevice.last.closed);
    assertThrows(IllegalStateException.class, () -> erda.get(bytes("a")));
    erda.close();
  }

  @Test
  void closingEndsWhatWasNotSent() throws Exception {
    ErdaClient erda = client();
    CountDownLatch asked = new CountDownLatch(1);
    store.answer =
        (type, request) -> {
          asked.countDown();
          return FakeStore.SILENCE;
        };
    FutureTask<Throwable> put = Threads.start("putter", () -> erda.put(bytes("a"), bytes("1")));
    Threads.await(asked);
    erda.close();
    Throwable e = put.get();
    assertInstanceOf(IllegalStateException.class, e);
    assertTrue(e.getMessage().contains("during a put of"), e.getMessage());
  }

  /** A closed client's memory was unmapped under the thread that used it. */
  @Test
  void asynchronousClientIsClosedByAnotherThread() throws Exception {
    for (int round = 0; round < 200; round++) {
      FakeStore own = new FakeStore();
      List<Long> told = new ArrayList<>();
      ErdaAsyncClient erda =
          ErdaAsyncClient.over(
              own.clientDevice, FakeStore.ADDRESS, PATIENT, own, handler(told::add));
      List<Long> submitted = new ArrayList<>();
      CountDownLatch begun = new CountDownLatch(1);
      FutureTask<Throwable> user =
          Threads.start(
              "user",
              () -> {
                MemorySegment key = MemorySegment.ofArray(bytes("a"));
                for (long token = 0; ; token++) {
                  if (token % 3 == 0 ? erda.put(token, key, key) : erda.get(token, key)) {
                    submitted.add(token);
                  }
                  erda.doWork();
                  own.getAsLong();
                  if (token == 50) {
                    begun.countDown();
                  }
                }
              });
      Threads.await(begun);
      erda.close();
      assertInstanceOf(IllegalStateException.class, user.get());
      told.sort(null);
      assertEquals(submitted, told);
      assertTrue(own.clientDevice.last.closed);
    }
  }

  /**
   * An exception of a handler is thrown in the thread that called the handler. The owner collected
   * it after it had left its call, when the closing thread was already calling handlers, and so
   * threw the closing thread's exception.
   */
  @Test
  void whatHandlersThrowStaysInItsThread() throws Exception {
    for (int round = 0; round < 500; round++) {
      FakeStore own = new FakeStore();
      own.answer = (type, request) -> type == Message.PUBLISH ? FakeStore.SILENCE : Result.OK;
      OperationHandler thrower =
          handler(token -> {
            throw new UnsupportedOperationException(Thread.currentThread().getName());
          });
      ErdaAsyncClient erda =
          ErdaAsyncClient.over(own.clientDevice, FakeStore.ADDRESS, PATIENT, own, thrower);
      CountDownLatch begun = new CountDownLatch(1);
      FutureTask<Throwable> user =
          Threads.start(
              "user",
              () -> {
                MemorySegment key = MemorySegment.ofArray(bytes("a"));
                for (long token = 0; ; token++) {
                  erda.put(token, key, key);
                  try {
                    erda.doWork();
                  } catch (UnsupportedOperationException e) {
                    assertEquals("user", e.getMessage());
                  }
                  if (own.requests.contains(Message.PUBLISH)) {
                    begun.countDown();
                  }
                }
              });
      Threads.await(begun);
      Exception thrown = assertThrows(UnsupportedOperationException.class, erda::close);
      assertEquals(Thread.currentThread().getName(), thrown.getMessage());
      assertInstanceOf(IllegalStateException.class, user.get());
    }
  }

  private static OperationHandler handler(LongConsumer hears) {
    return new OperationHandler() {
      @Override
      public void onGet(long token, MemorySegment memory, long offset, long length) {
        hears.accept(token);
      }

      @Override
      public void onPut(long token) {
        hears.accept(token);
      }

      @Override
      public void onDelete(long token, boolean existed) {
        hears.accept(token);
      }

      @Override
      public void onError(long token, ErdaException error) {
        hears.accept(token);
      }
    };
  }
}
