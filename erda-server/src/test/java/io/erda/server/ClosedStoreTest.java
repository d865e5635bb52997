package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaClientPool;
import io.erda.protocol.ErdaException;
import io.erda.rdma.ConnectionRequest;
import io.erda.rdma.Listener;
import io.erda.rdma.embedded.EmbeddedDevice;
import io.erda.rdma.embedded.EmbeddedNetwork;
import io.erda.testing.Threads;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the exceptions of clients whose store, or server, is closed while they use it. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClosedStoreTest {
  private static final int USERS = 8;
  private static final int ROUNDS = 25;
  private static final int CALLS_BEFORE = 200;
  private static final String CLOSED = "the store was closed";

  @TempDir Path directory;

  private static byte[] key(int i) {
    return ("key-" + i).getBytes(UTF_8);
  }

  /** The work that a thread repeats: some kinds of call, each in another state at the end. */
  private static void call(ErdaClientPool pool, int user, int turn) {
    byte[] key = key(user * 10 + turn % 10);
    switch (turn % 5) {
      case 0 -> pool.put(key, key);
      case 1 -> pool.compareAndSet(key, key, key(turn));
      case 2 -> pool.delete(key);
      case 3 -> pool.putAll(List.of(key(1), key(2)), List.of(key, key));
      default -> pool.get(key);
    }
  }

  /** Uses the pool until something is thrown, and a few times more, when all has ended. */
  private static void use(
      ErdaClientPool pool, int user, AtomicInteger calls, ConcurrentLinkedQueue<Throwable> heard) {
    for (int thrown = 0, turn = 0; thrown < 10; turn++) {
      try {
        call(pool, user, turn);
        calls.incrementAndGet();
      } catch (Throwable e) {
        heard.add(e);
        thrown++;
      }
    }
  }

  private static List<Throwable> closedUnder(ErdaClientPool pool, Runnable close) throws Exception {
    AtomicInteger calls = new AtomicInteger();
    ConcurrentLinkedQueue<Throwable> heard = new ConcurrentLinkedQueue<>();
    List<FutureTask<Throwable>> users = new ArrayList<>();
    for (int i = 0; i < USERS; i++) {
      int user = i;
      users.add(Threads.start("user-" + i, () -> use(pool, user, calls, heard)));
    }
    while (calls.get() < CALLS_BEFORE && heard.isEmpty()) {
      Thread.onSpinWait();
    }
    close.run();
    for (FutureTask<Throwable> user : users) {
      assertNull(user.get());
    }
    return List.copyOf(heard);
  }

  /** A connection that ended, and nothing final: trying again is right when a store is there. */
  private static void assertUnavailable(Throwable e) {
    Throwable each =
        e instanceof io.erda.client.BatchException && e.getCause() != null ? e.getCause() : e;
    assertTrue(
        each instanceof ErdaException.Unavailable || each instanceof ErdaException.OutcomeUnknown,
        () -> "untyped, or final: " + e);
    assertFalse(e.getMessage().contains("bytes that are no refusal"), e::getMessage);
  }

  @Test
  void everyThreadOfAPoolHearsThatTheStoreWasClosed() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      ErdaStore store = ErdaStore.open(directory.resolve("embedded"), SmallStore.OPTIONS);
      // Fewer and more clients than threads: some connect while the store is closed, some wait.
      int clients = round % 2 == 0 ? USERS : 2;
      try (ErdaClientPool pool =
          new ErdaClientPool(store::client, clients, Duration.ofSeconds(60))) {
        for (Throwable e : closedUnder(pool, store::close)) {
          assertUnavailable(e);
          assertTrue(e.getMessage().contains(CLOSED), () -> "does not say so: " + e);
        }
      } finally {
        store.close();
      }
    }
  }

  /** The gets of clients over shm go on without it. */
  @Test
  void everyThreadOfAPoolHearsThatTheServerIsGone() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      boolean tcp = round % 2 == 0;
      ErdaServer server =
          ErdaServer.start(
              directory.resolve("served"),
              tcp
                  ? SmallStore.OPTIONS.withListening(List.of(Listening.tcp("127.0.0.1:0")))
                  : SmallStore.OPTIONS);
      String uri = tcp ? server.uris().getLast() : server.uri();
      try (ErdaClientPool pool =
          new ErdaClientPool(() -> ErdaClient.connect(uri), USERS, Duration.ofSeconds(60))) {
        for (Throwable e : closedUnder(pool, server::close)) {
          assertUnavailable(e);
        }
      } finally {
        server.close();
      }
    }
  }

  @Test
  void whoConnectsAfterwardsHearsItToo() {
    ErdaStore store = ErdaStore.open(directory.resolve("embedded"), SmallStore.OPTIONS);
    ErdaClient before = store.client();
    store.close();
    for (ErdaException e :
        List.of(
            assertThrows(ErdaException.Unavailable.class, store::client),
            assertThrows(ErdaException.Unavailable.class, () -> before.get(key(1))),
            assertThrows(ErdaException.Unavailable.class, () -> before.put(key(1), key(1))))) {
      assertTrue(e.getMessage().contains(CLOSED), e::getMessage);
    }
    before.close();
  }

  /** As a server ends that was asked and had not decided. */
  @Test
  void aRejectionWithoutAReasonIsNotFinal() throws Exception {
    EmbeddedNetwork network = new EmbeddedNetwork(System::nanoTime);
    try (EmbeddedDevice device = network.device();
        Listener listener = device.listen("erda")) {
      FutureTask<Throwable> client =
          Threads.start(
              "client",
              () ->
                  ErdaClient.over(
                      network.device(), "erda", ClientOptions.DEFAULT, System::nanoTime));
      ConnectionRequest request = null;
      while (request == null) {
        request = listener.poll();
      }
      request.reject(MemorySegment.ofArray(new byte[0]));
      Throwable heard = client.get();
      assertUnavailable(heard);
      assertTrue(heard.getMessage().contains("before it had decided"), heard.getMessage());
    }
  }
}
