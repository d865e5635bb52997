package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import io.erda.testing.Threads;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** One client and several threads, over the devices that are there. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SharedClientTest {
  private static final int KEYS = 100;

  @TempDir Path data;

  private static byte[] key(int i) {
    return ("key-" + i).getBytes(UTF_8);
  }

  private static byte[] value(int i) {
    return ("value of key " + i + " ").repeat(1 + i % 30).getBytes(UTF_8);
  }

  private static void fill(ErdaClient erda) {
    for (int i = 0; i < KEYS; i++) {
      erda.put(key(i), value(i));
    }
    erda.handOver();
  }

  /** Threads got what another one had asked for. */
  @Test
  void threadsThatShareAClientNeverGetAnotherKeysValue() throws Exception {
    try (ErdaStore store = ErdaStore.open(data.resolve("embedded"), SmallStore.OPTIONS);
        ErdaClient erda = store.client()) {
      share(erda);
    }
    try (ErdaServer server = ErdaServer.start(data.resolve("served"), SmallStore.OPTIONS);
        ErdaClient erda = ErdaClient.connect(server.uri())) {
      share(erda);
    }
  }

  private static void share(ErdaClient erda) throws Exception {
    fill(erda);
    AtomicBoolean told = new AtomicBoolean();
    Threads.Work reads =
        () -> {
          for (int i = 0; i < 300_000; i++) {
            int k = i % KEYS;
            try {
              assertEquals(new String(value(k), UTF_8), new String(erda.get(key(k)), UTF_8));
              if (i % 1000 == 0) {
                erda.put(key(k), value(k));
              }
            } catch (WrongThreadException e) {
              told.set(true);
            }
          }
        };
    FutureTask<Throwable> first = Threads.start("first", reads);
    FutureTask<Throwable> second = Threads.start("second", reads);
    assertNull(first.get());
    assertNull(second.get());
    assertTrue(told.get(), "one of them was told");
  }

  /** Readers stayed beyond their time-out, or the process ended by SIGSEGV. */
  @Test
  void clientIsClosedUnderItsReader() throws Exception {
    try (ErdaStore store = ErdaStore.open(data.resolve("embedded"), SmallStore.OPTIONS)) {
      closeUnderReaders(store::client);
    }
    try (ErdaServer server = ErdaServer.start(data.resolve("served"), SmallStore.OPTIONS)) {
      closeUnderReaders(() -> ErdaClient.connect(server.uri()));
    }
  }

  private static void closeUnderReaders(Supplier<ErdaClient> connect) throws Exception {
    try (ErdaClient erda = connect.get()) {
      fill(erda);
    }
    for (int round = 0; round < 100; round++) {
      ErdaClient erda = connect.get();
      CountDownLatch begun = new CountDownLatch(1);
      boolean puts = round % 2 == 1;
      FutureTask<Throwable> user =
          Threads.start(
              "user",
              () -> {
                for (int i = 0; ; i++) {
                  int k = i % KEYS;
                  if (puts && i % 4 == 0) {
                    erda.put(key(k), value(k));
                  }
                  assertEquals(new String(value(k), UTF_8), new String(erda.get(key(k)), UTF_8));
                  if (i == 20) {
                    begun.countDown();
                  }
                }
              });
      begun.await();
      erda.close();
      Throwable e = user.get();
      assertTrue(
          e instanceof IllegalStateException || e instanceof ErdaException.OutcomeUnknown,
          () -> "ended with " + e);
      FutureTask<Throwable> late = Threads.start("late", () -> erda.get(key(0)));
      assertInstanceOf(IllegalStateException.class, late.get());
    }
  }
}
