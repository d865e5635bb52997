package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaFutures;
import io.erda.client.ErdaUri;
import io.erda.protocol.ErdaException;
import io.erda.testing.Threads;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Operations as futures, over the devices that are there. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("long")
class FuturesTest {
  private static final ClientOptions PATIENT =
      ClientOptions.DEFAULT
          .withOperationTimeout(Duration.ofSeconds(60))
          .withConnectTimeout(Duration.ofSeconds(60));

  @TempDir Path data;

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private static String text(byte[] value) {
    return value == null ? null : new String(value, UTF_8);
  }

  private static ErdaFutures connect(String uri, ClientOptions options, int pendingMax) {
    return ErdaFutures.connect(ErdaUri.parse(uri), options, pendingMax);
  }

  private static Throwable failureOf(CompletableFuture<?> future) {
    return assertThrows(CompletionException.class, future::join).getCause();
  }

  @Test
  void outcomesAreThoseOfAClient() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
        ErdaFutures erda = ErdaFutures.connect(server.uri())) {
      assertNull(erda.get(bytes("a")).join());
      byte[] value = bytes("1");
      CompletableFuture<Void> put = erda.put(bytes("a"), value);
      value[0] = 'x';
      assertNull(put.join());
      assertEquals("1", text(erda.get(bytes("a")).join()), "it was copied");
      assertTrue(erda.delete(bytes("a")).join());
      assertFalse(erda.delete(bytes("a")).join());
      assertInstanceOf(ErdaException.BadSize.class, failureOf(erda.get(new byte[0])));
      assertInstanceOf(
          ErdaException.BadSize.class, failureOf(erda.put(bytes("a"), new byte[1 << 21])));
      assertThrows(NullPointerException.class, () -> erda.put(bytes("a"), null));
      assertEquals(0, erda.pending());
      assertEquals(1, erda.statistics().puts());
    }
  }

  /**
   * Otherwise the client's thread would wait for itself, and so would whoever closes the client.
   */
  @Test
  void aDependentThatWaitsInTheClientsThreadIsRefused() throws Exception {
    byte[] key = bytes("a");
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
        ErdaFutures erda = ErdaFutures.connect(server.uri())) {
      List<Callable<byte[]>> waits =
          List.of(
              () -> erda.get(key).join(),
              () -> erda.get(key).get(),
              () -> erda.get(key).get(1, TimeUnit.MINUTES),
              () -> erda.get(key).thenApply(value -> value).join());
      for (Callable<byte[]> wait : waits) {
        assertEquals("refused", inTheClientsThread(erda, wait));
      }
      erda.put(key, key).join();
      assertEquals("a", text(erda.get(key).join()));
      assertEquals("a", text(erda.get(key).thenCompose(value -> erda.get(key)).join()));
    }
  }

  /** It used to wait without an end. */
  @Test
  void closingDoesNotWaitForADependentThatNeverReturns() throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS)) {
      ErdaFutures erda = ErdaFutures.connect(server.uri());
      Runnable waits =
          () -> {
            // A future that is completed already has this done by the thread that asks.
            if (Thread.currentThread().getName().equals("erda-futures")) {
              inside.countDown();
              Threads.await(never);
            }
          };
      while (!inside.await(1, TimeUnit.MILLISECONDS)) {
        erda.get(bytes("a")).thenRun(waits);
      }
      erda.close();
      assertThrows(IllegalStateException.class, () -> erda.get(bytes("a")));
    } finally {
      never.countDown();
    }
  }

  /** Returns what becomes of a wait in a dependent that the client's thread runs. */
  private static String inTheClientsThread(ErdaFutures erda, Callable<byte[]> wait) {
    Thread caller = Thread.currentThread();
    while (true) {
      String outcome =
          erda.get(bytes("b"))
              .thenApply(value -> {
                if (Thread.currentThread() == caller) {
                  return "the get had ended before";
                }
                try {
                  wait.call();
                  return "waited";
                } catch (IllegalStateException e) {
                  return "refused";
                } catch (Exception e) {
                  return e.toString();
                }
              })
              .join();
      if (!outcome.equals("the get had ended before")) {
        return outcome;
      }
    }
  }

  @Test
  void conditionsAreLookedAtInTheOrderOfSubmission() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
        ErdaFutures erda = ErdaFutures.connect(server.uri())) {
      byte[] key = bytes("a");
      List<CompletableFuture<Boolean>> told =
          List.of(
              erda.compareAndDelete(key, bytes("1")),
              erda.putIfAbsent(key, bytes("1")),
              erda.putIfAbsent(key, bytes("2")),
              erda.compareAndSet(key, bytes("2"), bytes("3")),
              erda.compareAndSet(key, bytes("1"), bytes("3")),
              erda.compareAndDelete(key, bytes("1")));
      assertEquals("3", text(erda.get(key).join()));
      assertTrue(erda.compareAndDelete(key, bytes("3")).join());
      assertNull(erda.get(key).join());
      assertEquals(
          List.of(false, true, false, false, true, false),
          told.stream().map(CompletableFuture::join).toList());
      assertThrows(NullPointerException.class, () -> erda.compareAndSet(key, null, key));
    }
  }

  @Test
  void operationsOnOneKeyTakeEffectInTheOrderOfSubmission() throws Exception {
    try (ErdaStore store = ErdaStore.open(data.resolve("embedded"), SmallStore.OPTIONS);
        ErdaFutures erda = store.futures(PATIENT, 500)) {
      inOrder(erda);
    }
    try (ErdaServer server = ErdaServer.start(data.resolve("served"), SmallStore.OPTIONS);
        ErdaFutures erda = connect(server.uri(), PATIENT.withPipelineDepth(4), 500)) {
      inOrder(erda);
    }
  }

  /** Three threads with separate keys, which do not wait for each operation. */
  private static void inOrder(ErdaFutures erda) throws Exception {
    long seed = Long.getLong("erda.seed", 17);
    List<FutureTask<Throwable>> users = new ArrayList<>();
    for (int user = 0; user < 3; user++) {
      Random random = new Random(seed + user);
      String own = "user" + user + "-";
      users.add(
          Threads.start(
              own,
              () -> {
                Map<String, String> expected = new HashMap<>();
                List<CompletableFuture<?>> all = new ArrayList<>();
                for (int i = 0; i < 3_000; i++) {
                  String key = own + random.nextInt(5);
                  String at = "-Derda.seed=" + seed + ", step " + i + ", key " + key;
                  switch (random.nextInt(4)) {
                    case 0, 1 -> {
                      String now = expected.get(key);
                      all.add(
                          erda.get(bytes(key)).thenAccept(got -> assertEquals(now, text(got), at)));
                    }
                    case 2 -> {
                      all.add(erda.put(bytes(key), bytes("v" + i)));
                      expected.put(key, "v" + i);
                    }
                    default -> {
                      boolean was = expected.remove(key) != null;
                      all.add(
                          erda.delete(bytes(key))
                              .thenAccept(existed -> assertEquals(was, existed, at)));
                    }
                  }
                }
                for (CompletableFuture<?> each : all) {
                  each.join();
                }
              }));
    }
    for (FutureTask<Throwable> user : users) {
      Throwable thrown = user.get();
      assertNull(thrown, () -> String.valueOf(thrown));
    }
  }

  /** Threads submit while the client is closed: each future is completed once, or was refused. */
  @Test
  void everyFutureIsCompletedOnceWhoeverCloses() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS)) {
      for (int round = 0; round < 30; round++) {
        ErdaFutures erda = connect(server.uri(), PATIENT, 100);
        AtomicInteger submitted = new AtomicInteger();
        AtomicInteger told = new AtomicInteger();
        CountDownLatch begun = new CountDownLatch(3);
        List<CompletableFuture<?>> all = new java.util.concurrent.CopyOnWriteArrayList<>();
        List<FutureTask<Throwable>> users = new ArrayList<>();
        for (int user = 0; user < 3; user++) {
          int own = user;
          users.add(
              Threads.start(
                  "user",
                  () -> {
                    for (int i = 0; ; i++) {
                      byte[] key = bytes("key" + i % 10);
                      CompletableFuture<?> each = i % 3 == own ? erda.put(key, key) : erda.get(key);
                      submitted.incrementAndGet();
                      all.add(each.whenComplete((value, e) -> told.incrementAndGet()));
                      if (i == 30) {
                        begun.countDown();
                      }
                    }
                  }));
        }
        begun.await();
        erda.close();
        erda.close();
        for (FutureTask<Throwable> user : users) {
          assertInstanceOf(IllegalStateException.class, user.get());
        }
        assertEquals(submitted.get(), told.get());
        for (CompletableFuture<?> each : all) {
          if (each.isCompletedExceptionally()) {
            Throwable e = each.exceptionNow();
            Throwable cause = e instanceof CompletionException ? e.getCause() : e;
            assertTrue(
                cause instanceof ErdaException.Unavailable
                    || cause instanceof ErdaException.OutcomeUnknown,
                cause::toString);
          }
        }
        assertEquals(0, erda.pending());
        assertThrows(IllegalStateException.class, () -> erda.get(bytes("a")));
      }
    }
  }

  /** Runs something in the client's own thread; returns when that has begun. */
  private static void inItsThread(ErdaFutures erda, Runnable task) throws Exception {
    AtomicBoolean begun = new AtomicBoolean();
    while (!begun.get()) {
      // A dependent that is added too late runs here.
      CompletableFuture<Void> tried =
          erda.get(bytes("a"))
              .thenRun(() -> {
                if (Thread.currentThread().getName().equals("erda-futures")) {
                  begun.set(true);
                  task.run();
                }
              });
      while (!begun.get() && !tried.isDone()) {
        Thread.sleep(1);
      }
    }
  }

  @Test
  void whoeverSubmitsBeyondTheLimitWaitsThenIsToldSo() throws Exception {
    ClientOptions hasty = PATIENT.withOperationTimeout(Duration.ofMillis(500));
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
        ErdaFutures erda = connect(server.uri(), hasty, 4)) {
      erda.put(bytes("a"), bytes("1")).exceptionally(e -> null).join();
      CountDownLatch go = new CountDownLatch(1);
      inItsThread(erda, () -> Threads.await(go));
      List<CompletableFuture<Void>> puts = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        puts.add(erda.put(bytes("key" + i), bytes("1")));
      }
      assertEquals(4, erda.pending());
      Thread.currentThread().interrupt();
      CompletableFuture<Void> beyond = erda.put(bytes("a"), bytes("2"));
      assertTrue(Thread.interrupted(), "an interrupt stays, and ends no wait");
      Throwable told = failureOf(beyond);
      assertInstanceOf(ErdaException.Unavailable.class, told);
      assertTrue(told.getMessage().contains("4 operations are pending"), told.getMessage());
      FutureTask<Throwable> waits = Threads.start("waits", () -> erda.get(bytes("key0")).join());
      go.countDown();
      puts.forEach(CompletableFuture::join);
      assertNull(waits.get());
      assertEquals("1", text(erda.get(bytes("a")).join()));
    }
  }

  /**
   * The server stands still. With a time-out of 10 s the last of 200 puts ended after 45 s, because
   * each waited for the time-outs of all before it.
   */
  @Test
  void whatWaitsBehindOthersEndsWithItsOwnTimeOut() throws Exception {
    int depth = 4;
    ClientOptions hasty =
        ClientOptions.DEFAULT
            .withOperationTimeout(Duration.ofSeconds(1))
            .withConnectTimeout(Duration.ofSeconds(1))
            .withPipelineDepth(depth);
    try (ServedElsewhere server = ServedElsewhere.start(data.resolve("data"));
        ErdaFutures erda = connect("erda+shm:" + data.resolve("data"), hasty, 1000)) {
      erda.put(bytes("a"), bytes("1")).join();
      server.standStill();
      List<CompletableFuture<Void>> puts = new ArrayList<>();
      for (int i = 0; i < 20 * depth; i++) {
        puts.add(erda.put(bytes("key" + i), bytes("1")));
      }
      int behind = 0;
      for (CompletableFuture<Void> put : puts) {
        behind += failureOf(put).getMessage().contains(" behind other operations: ") ? 1 : 0;
      }
      assertTrue(behind >= 15 * depth, behind + " were told that they waited behind others");
    }
  }

  @Test
  void whoWaitsForRoomHearsOfTheEnd() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS)) {
      ErdaFutures erda = connect(server.uri(), PATIENT, 1);
      CountDownLatch go = new CountDownLatch(1);
      inItsThread(erda, () -> Threads.await(go));
      CompletableFuture<Void> put = erda.put(bytes("a"), bytes("1"));
      FutureTask<Throwable> waits = Threads.start("waits", () -> erda.get(bytes("key0")));
      Thread.sleep(20);
      FutureTask<Throwable> closes = Threads.start("closes", erda::close);
      Thread.sleep(20);
      go.countDown();
      assertInstanceOf(IllegalStateException.class, waits.get());
      assertNull(closes.get());
      assertInstanceOf(ErdaException.Unavailable.class, failureOf(put));
    }
  }

  /** A dependent that waited for room waited for itself. */
  @Test
  void dependentsSubmitWithoutWaiting() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
        ErdaFutures erda = connect(server.uri(), PATIENT, 1)) {
      CompletableFuture<byte[]> chain = CompletableFuture.completedFuture(bytes("0"));
      for (int i = 0; i < 50; i++) {
        byte[] key = bytes("key" + i);
        chain =
            chain.thenCompose(value ->
                erda.put(key, bytes(text(value) + ".")).thenCompose(nothing -> erda.get(key)));
      }
      assertEquals("0" + ".".repeat(50), text(chain.get(60, TimeUnit.SECONDS)));
      CountDownLatch submitted = new CountDownLatch(1);
      List<CompletableFuture<byte[]>> gets = new ArrayList<>();
      inItsThread(
          erda,
          () -> {
            gets.add(erda.get(bytes("key1")));
            gets.add(erda.get(bytes("key2")));
            submitted.countDown();
          });
      submitted.await();
      assertEquals("0..", text(gets.get(0).join()));
      Throwable told = failureOf(gets.get(1));
      assertInstanceOf(ErdaException.Unavailable.class, told);
      assertEquals("0...", text(erda.get(bytes("key2")).join()));
    }
  }

  @Test
  void whatADependentThrowsIsItsOwn() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
        ErdaFutures erda = ErdaFutures.connect(server.uri())) {
      Error thrown = new StackOverflowError();
      CompletableFuture<Void> failed =
          erda.put(bytes("a"), bytes("1"))
              .thenRun(() -> {
                throw thrown;
              });
      assertSame(thrown, failureOf(failed));
      assertEquals("1", text(erda.get(bytes("a")).join()));
    }
  }

  @Test
  void whatIsCancelledBeforeItBeganNeverTakesEffect() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
        ErdaFutures erda = connect(server.uri(), PATIENT, 100)) {
      erda.put(bytes("a"), bytes("1")).join();
      CountDownLatch go = new CountDownLatch(1);
      inItsThread(erda, () -> Threads.await(go));
      CompletableFuture<Void> put = erda.put(bytes("a"), bytes("2"));
      CompletableFuture<Boolean> delete = erda.delete(bytes("a"));
      assertTrue(put.cancel(true));
      assertTrue(delete.complete(true));
      go.countDown();
      assertEquals("1", text(erda.get(bytes("a")).join()));
      assertEquals(0, erda.pending());
    }
  }

  @Test
  void aDependentMayClose() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS)) {
      for (int round = 0; round < 20; round++) {
        ErdaFutures erda = ErdaFutures.connect(server.uri());
        List<CompletableFuture<?>> all = new ArrayList<>();
        CompletableFuture<byte[]> first = erda.get(bytes("a"));
        CompletableFuture<Void> closing = first.thenRun(erda::close);
        try {
          for (int i = 0; i < 50; i++) {
            all.add(erda.put(bytes("key" + i), bytes("1")));
          }
        } catch (IllegalStateException e) {
          assertTrue(e.getMessage().contains("closed"), e.getMessage());
        }
        closing.join();
        erda.close();
        assertTrue(all.stream().allMatch(CompletableFuture::isDone));
      }
    }
  }

  @Test
  void nothingIsLostWhenTheServerIsKilled() throws Exception {
    Path served = data.resolve("store");
    ServedElsewhere first = ServedElsewhere.start(served);
    try (ErdaFutures erda = connect("erda+shm:" + served.toAbsolutePath(), PATIENT, 64)) {
      Map<String, String> acknowledged = new HashMap<>();
      Map<String, String> unknown = new HashMap<>();
      List<CompletableFuture<Void>> puts = new ArrayList<>();
      for (int i = 0; i < 2_000; i++) {
        puts.add(erda.put(bytes("key" + i), bytes("v" + i)));
        if (i == 1_000) {
          first.kill();
          first.close();
          break;
        }
      }
      for (int i = 0; i < puts.size(); i++) {
        try {
          puts.get(i).get(120, TimeUnit.SECONDS);
          acknowledged.put("key" + i, "v" + i);
        } catch (java.util.concurrent.ExecutionException e) {
          if (e.getCause() instanceof ErdaException.OutcomeUnknown) {
            unknown.put("key" + i, "v" + i);
          } else {
            assertInstanceOf(ErdaException.Unavailable.class, e.getCause());
          }
        }
      }
      assertTrue(acknowledged.size() > 800, () -> acknowledged.size() + " were acknowledged");
      try (ServedElsewhere second = ServedElsewhere.start(served);
          ErdaClient reader = second.connect()) {
        for (int i = 0; i < puts.size(); i++) {
          String got = text(reader.get(bytes("key" + i)));
          if (acknowledged.containsKey("key" + i)) {
            assertEquals("v" + i, got);
          } else if (!unknown.containsKey("key" + i)) {
            assertNull(got, "key" + i + " was taken back");
          }
        }
        CompletableFuture<Void> put = erda.put(bytes("after"), bytes("1"));
        put.exceptionally(e -> null).join();
        assertEquals("v1", text(erda.get(bytes("key1")).join()));
      }
    } finally {
      first.close();
    }
  }
}
