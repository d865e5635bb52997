package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaAsyncClient;
import io.erda.client.ErdaFutures;
import io.erda.client.ErdaUri;
import io.erda.client.OperationHandler;
import io.erda.protocol.ErdaException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A handler ends the JVM while shutdown hooks close what it belongs to: the JVM does end. */
@Tag("long")
class ExitInHandlerTest {
  private static final int EXIT = 7;
  private static final byte[] KEY = "key".getBytes(UTF_8);

  @TempDir Path data;

  /** Runs in a separate process. */
  public static void main(String[] args) throws Exception {
    Path data = Path.of(args[0]);
    if (args[1].equals("nobody")) {
      if (args[3].equals("closes")) {
        closesInItsHandlerToo(data);
      }
      closesInAHook(data);
    }
    AutoCloseable store;
    AutoCloseable client;
    boolean embedded = args[1].equals("embedded");
    ErdaServer server = embedded ? null : ErdaServer.start(data, SmallStore.OPTIONS);
    ErdaStore held = embedded ? ErdaStore.open(data, SmallStore.OPTIONS) : null;
    store = embedded ? held : server;
    Runnable inHandler =
        switch (args[3]) {
          case "exits" -> () -> System.exit(EXIT);
          // Another thread ends the JVM, and the handler is in the middle of something.
          case "sleeps" -> () -> sleepWhileAnotherExits();
          default -> throw new IllegalArgumentException(args[3]);
        };
    if (args[2].equals("futures")) {
      ErdaFutures futures =
          embedded
              ? held.futures(ClientOptions.DEFAULT, 16)
              : ErdaFutures.connect(ErdaUri.parse(server.uri()), ClientOptions.DEFAULT, 16);
      client = futures;
      closeInHooks(client, store);
      for (int i = 0; i < 100; i++) {
        futures.put(KEY, KEY).thenRun(inHandler);
      }
      new CountDownLatch(1).await();
    } else {
      OperationHandler handler = new Handler(inHandler);
      ErdaAsyncClient async =
          embedded
              ? held.asyncClient(ClientOptions.DEFAULT, handler)
              : ErdaAsyncClient.connect(
                  ErdaUri.parse(server.uri()), ClientOptions.DEFAULT, handler);
      closeInHooks(async, store);
      async.put(1, MemorySegment.ofArray(KEY), MemorySegment.ofArray(KEY));
      while (true) {
        async.doWork();
        async.await(1_000_000);
      }
    }
  }

  /** A put is under way, and fails when a hook closes the client; then the handler ends the JVM. */
  private static void closesInAHook(Path data) throws InterruptedException {
    ErdaAsyncClient async =
        ErdaAsyncClient.connect(
            ErdaUri.parse("erda+shm:" + data),
            ClientOptions.DEFAULT,
            new Handler(() -> {}) {
              @Override
              public void onError(long token, ErdaException error) {
                System.exit(EXIT);
              }
            });
    closeInHooks(async, () -> {});
    async.put(1, MemorySegment.ofArray(KEY), MemorySegment.ofArray(KEY));
    async.handOver();
    sleepWhileAnotherExits();
  }

  /** A hook closes the client; the handler, which is told of each operation then, does so too. */
  private static void closesInItsHandlerToo(Path data) throws InterruptedException {
    AtomicInteger told = new AtomicInteger();
    AtomicReference<ErdaAsyncClient> itself = new AtomicReference<>();
    ErdaAsyncClient async =
        ErdaAsyncClient.connect(
            ErdaUri.parse("erda+shm:" + data),
            ClientOptions.DEFAULT,
            new Handler(() -> {}) {
              @Override
              public void onError(long token, ErdaException error) {
                told.incrementAndGet();
                itself.get().close();
              }
            });
    itself.set(async);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(() -> {
              async.close();
              Runtime.getRuntime().halt(told.get() == 3 ? EXIT : EXIT + 1);
            }));
    for (int i = 0; i < 3; i++) {
      async.put(i, MemorySegment.ofArray(KEY), MemorySegment.ofArray(KEY));
    }
    async.handOver();
    sleepWhileAnotherExits();
  }

  /** Two hooks close the client, as an application's and a framework's may do. */
  private static void closeInHooks(AutoCloseable client, AutoCloseable store) {
    for (int i = 0; i < 2; i++) {
      Runtime.getRuntime()
          .addShutdownHook(
              new Thread(() -> {
                try {
                  client.close();
                  store.close();
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              }));
    }
  }

  private static void sleepWhileAnotherExits() {
    new Thread(() -> System.exit(EXIT)).start();
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static class Handler implements OperationHandler {
    private final Runnable onPut;

    Handler(Runnable onPut) {
      this.onPut = onPut;
    }

    @Override
    public void onGet(long token, MemorySegment memory, long offset, long length) {}

    @Override
    public void onPut(long token) {
      onPut.run();
    }

    @Override
    public void onDelete(long token, boolean existed) {}

    @Override
    public void onError(long token, ErdaException error) {
      throw error;
    }
  }

  @ParameterizedTest
  @CsvSource({
    "embedded, futures, exits",
    "embedded, async, exits",
    "shm, futures, exits",
    "shm, async, exits",
    "embedded, futures, sleeps",
    "shm, async, sleeps",
    "nobody, async, exits",
    "nobody, async, closes"
  })
  void jvmEnds(String device, String client, String handler) throws Exception {
    Path output = Files.createTempFile(data.getParent(), "exit", ".log");
    Process child =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "--sun-misc-unsafe-memory-access=allow",
                    "-cp",
                    System.getProperty("java.class.path"),
                    ExitInHandlerTest.class.getName(),
                    data.toString(),
                    device,
                    client,
                    handler))
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertTrue(child.waitFor(90, TimeUnit.SECONDS), "still runs");
      assertEquals(EXIT, child.exitValue(), Files.readString(output));
    } finally {
      child.destroyForcibly().waitFor();
      Files.delete(output);
    }
  }
}
