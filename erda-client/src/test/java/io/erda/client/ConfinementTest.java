package io.erda.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.protocol.ErdaException;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who may call a client, and how it is closed while it is called. */
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

  /** A thread of its own; its result is what the work threw, or null. */
  private static FutureTask<Throwable> start(String name, Runnable work) {
    FutureTask<Throwable> task =
        new FutureTask<>(() -> {
          try {
            work.run();
            return null;
          } catch (Throwable e) {
            return e;
          }
        });
    new Thread(task, name).start();
    return task;
  }

  /** To the end of the thread: a client belongs to it as long as it lives. */
  private static Throwable run(String name, Runnable work) throws Exception {
    Throwable[] thrown = new Throwable[1];
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (Throwable e) {
                thrown[0] = e;
              }
            },
            name);
    thread.start();
    thread.join();
    return thrown[0];
  }

  @Test
  void secondThreadIsToldWhoOwnsTheClient() throws Exception {
    try (ErdaClient erda = client()) {
      erda.put(bytes("a"), bytes("1"));
      List<Runnable> calls =
          List.of(
              () -> erda.get(bytes("a")),
              () -> erda.put(bytes("a"), bytes("2")),
              () -> erda.delete(bytes("a")),
              erda::stats,
              erda::handOver);
      for (Runnable call : calls) {
        Throwable e = run("second", call);
        assertInstanceOf(WrongThreadException.class, e);
        assertTrue(e.getMessage().contains("thread \"second\" (#"), e.getMessage());
        String owner = Confinement.name(Thread.currentThread());
        assertTrue(e.getMessage().contains(owner), e.getMessage());
      }
      assertNull(run("second", erda::statistics));
      assertNull(run("second", erda::promise));
      assertEquals("1", new String(erda.get(bytes("a")), UTF_8));
    }
  }

  @Test
  void clientIsHandedOver() throws Exception {
    try (ErdaClient erda = client()) {
      // Whoever connects is not the owner yet.
      assertNull(run("first", () -> erda.put(bytes("a"), bytes("1"))));
      // The owner has ended.
      erda.put(bytes("a"), bytes("2"));
      assertInstanceOf(
          WrongThreadException.class, run("second", () -> erda.put(bytes("a"), bytes("3"))));
      erda.handOver();
      CountDownLatch put = new CountDownLatch(1);
      CountDownLatch end = new CountDownLatch(1);
      FutureTask<Throwable> third =
          start(
              "third",
              () -> {
                erda.put(bytes("a"), bytes("4"));
                put.countDown();
                await(end);
                erda.handOver();
              });
      await(put);
      assertThrows(WrongThreadException.class, () -> erda.get(bytes("a")));
      end.countDown();
      assertNull(third.get());
      assertNull(run("fourth", () -> assertEquals("4", new String(erda.get(bytes("a")), UTF_8))));
    }
  }

  /** Two threads were inside at once, and each got what the other had asked for. */
  @Test
  void noTwoThreadsAreInsideAtOnce() throws Exception {
    for (int round = 0; round < 2_000; round++) {
      Confinement confinement = new Confinement();
      confinement.handOver();
      AtomicInteger inside = new AtomicInteger();
      Runnable work =
          () -> {
            for (int i = 0; i < 200; i++) {
              try {
                confinement.enter();
              } catch (WrongThreadException e) {
                continue;
              }
              assertEquals(1, inside.incrementAndGet());
              inside.decrementAndGet();
              confinement.leave();
              confinement.handOver();
            }
          };
      FutureTask<Throwable> other = start("other", work);
      work.run();
      assertNull(other.get());
    }
  }

  /** The thread that closes and the one that enters never miss each other. */
  @Test
  void nobodyIsInsideWhenAClientIsClosed() throws Exception {
    for (int round = 0; round < 2_000; round++) {
      Confinement confinement = new Confinement();
      confinement.handOver();
      boolean[] ended = new boolean[1];
      CountDownLatch begun = new CountDownLatch(1);
      FutureTask<Throwable> user =
          start(
              "user",
              () -> {
                for (int i = 0; ; i++) {
                  try {
                    confinement.enter();
                  } catch (IllegalStateException e) {
                    return;
                  }
                  if (ended[0]) {
                    throw new AssertionError("inside a closed client");
                  }
                  confinement.leave();
                  if (i == 100) {
                    begun.countDown();
                  }
                }
              });
      await(begun);
      confinement.close(() -> {}, () -> ended[0] = true);
      assertNull(user.get());
    }
  }

  @Test
  void closingEndsAPutThatWaits() throws Exception {
    ErdaClient erda = client();
    store.answer = (type, request) -> type == Message.PUBLISH ? FakeStore.SILENCE : Result.OK;
    FutureTask<Throwable> put = start("putter", () -> erda.put(bytes("a"), bytes("1")));
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
    FutureTask<Throwable> put = start("putter", () -> erda.put(bytes("a"), bytes("1")));
    await(asked);
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
          start(
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
      await(begun);
      erda.close();
      assertInstanceOf(IllegalStateException.class, user.get());
      told.sort(null);
      assertEquals(submitted, told);
      assertTrue(own.clientDevice.last.closed);
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

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
