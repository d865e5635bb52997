package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaAsyncClient;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaClientPool;
import io.erda.client.ErdaFutures;
import io.erda.client.ErdaUri;
import io.erda.client.KeyCursor;
import io.erda.client.OperationHandler;
import io.erda.protocol.ErdaException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients that an application forgot to close release their resources, and a warning is logged. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ForgottenTest {
  private static final int COUNT = 8;
  private static final byte[] KEY = "key".getBytes(UTF_8);

  @TempDir Path data;
  private Lines lines;
  private final Logger logger = Logger.getLogger("io.erda.client");

  /** The lines about clients that one test opened: the collector finds others' at any time. */
  private static final class Lines extends Handler {
    final List<String> all = new CopyOnWriteArrayList<>();
    private final String opener;

    Lines(String test) {
      this.opener = ForgottenTest.class.getName() + "." + test + "(";
    }

    @Override
    public void publish(LogRecord line) {
      if (line.getMessage().contains(opener)) {
        all.add(line.getMessage());
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  @BeforeEach
  void listen(TestInfo test) {
    lines = new Lines(test.getTestMethod().orElseThrow().getName());
    logger.addHandler(lines);
    logger.setUseParentHandlers(false);
  }

  @AfterEach
  void listenNoMore() {
    logger.removeHandler(lines);
    logger.setUseParentHandlers(true);
  }

  private interface Condition {
    boolean holds() throws Exception;
  }

  /** The collector decides when it finds unreachable objects. */
  private static void collectUntil(Condition condition) throws Exception {
    while (!condition.holds()) {
      System.gc();
      Thread.sleep(20);
    }
  }

  private static long descriptors() throws IOException {
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      return all.count();
    }
  }

  private void assertLines(int count, String what) {
    assertEquals(count, lines.all.size(), lines.all::toString);
    for (String line : lines.all) {
      assertTrue(line.startsWith(what), line);
    }
  }

  @Test
  void clientsOverSharedMemoryGiveTheirDescriptorsBack() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
        ErdaClient asking = ErdaClient.connect(server.uri())) {
      long before = descriptors();
      for (int i = 0; i < COUNT; i++) {
        ErdaClient.connect(server.uri()).put(KEY, KEY);
      }
      for (int i = 0; i < COUNT; i++) {
        Self self = new Self();
        self.client =
            ErdaAsyncClient.connect(ErdaUri.parse(server.uri()), ClientOptions.DEFAULT, self);
        while (!self.client.isConnected()) {
          self.client.doWork();
        }
      }
      collectUntil(() -> asking.stats().get("connections") == 1 && descriptors() <= before);
      collectUntil(() -> lines.all.size() >= 2 * COUNT);
      assertLines(2 * COUNT, "a client of " + data);
    }
  }

  /** A handler that reaches its client, as most do. */
  private static final class Self implements OperationHandler {
    private ErdaAsyncClient client;

    @Override
    public void onGet(long token, MemorySegment memory, long offset, long length) {}

    @Override
    public void onPut(long token) {}

    @Override
    public void onDelete(long token, boolean existed) {}

    @Override
    public void onError(long token, ErdaException error) {}
  }

  @Test
  void poolsAndEmbeddedClientsGiveTheirConnectionsBack() throws Exception {
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS)) {
      for (int i = 0; i < COUNT; i++) {
        new ErdaClientPool(store::client, 2, ErdaClientPool.BORROW_TIMEOUT).put(KEY, KEY);
        store.client().put(KEY, KEY);
      }
      collectUntil(() -> store.figures(Duration.ofSeconds(10)).get("connections") == 0);
      collectUntil(() -> lines.all.size() >= 2 * COUNT);
      assertLines(2 * COUNT, "a client of erda");
    }
  }

  @Test
  void threadsOfFuturesEndWhenNothingIsPending() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS)) {
      List<CompletableFuture<byte[]>> gets = new CopyOnWriteArrayList<>();
      for (int i = 0; i < COUNT; i++) {
        ErdaFutures futures = ErdaFutures.connect(server.uri());
        gets.add(futures.put(KEY, KEY).thenCompose(nothing -> futures.get(KEY)));
      }
      collectUntil(() ->
          Thread.getAllStackTraces().keySet().stream()
              .noneMatch(thread -> thread.getName().equals("erda-futures")));
      for (CompletableFuture<byte[]> get : gets) {
        assertEquals("key", new String(get.get(), UTF_8));
      }
      assertLines(COUNT, "a client with futures, opened at ");
    }
  }

  /** Found by a stranger: a handler of the log that threw kept all that was forgotten open. */
  @Test
  void whatIsForgottenIsReleasedThoughTheLogThrows() throws Exception {
    Handler throwing =
        new Handler() {
          @Override
          public void publish(LogRecord line) {
            throw new IllegalStateException("made up");
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    logger.addHandler(throwing);
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS)) {
      for (int i = 0; i < COUNT; i++) {
        store.client().put(KEY, KEY);
      }
      collectUntil(() -> store.figures(Duration.ofSeconds(10)).get("connections") == 0);
    } finally {
      logger.removeHandler(throwing);
    }
  }

  /** A cursor, and a future, are a use of their client; and what was closed is not forgotten. */
  @Test
  void whatIsUsedOrWasClosedIsNotForgotten() throws Exception {
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS)) {
      for (int i = 0; i < COUNT; i++) {
        try (ErdaClient client = store.client();
            ErdaFutures futures = store.futures(ClientOptions.DEFAULT, 16)) {
          client.put(("key" + i).getBytes(UTF_8), KEY);
          assertNull(futures.get(KEY).get());
        }
      }
      KeyCursor cursor = store.client().keys();
      for (int i = 0; i < COUNT; i++) {
        System.gc();
        assertTrue(cursor.next());
        Thread.sleep(5);
      }
      assertTrue(!cursor.next());
      assertEquals(List.of(), lines.all);
    }
  }
}
