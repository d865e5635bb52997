package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Many clients that connect at once, in one JVM, beside threads that want every core. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ManyClientsTest {
  /** So long that a machine which others use as well makes no difference. */
  private static final ClientOptions PATIENT =
      ClientOptions.DEFAULT
          .withConnectTimeout(Duration.ofSeconds(60))
          .withOperationTimeout(Duration.ofSeconds(120));

  private static final ServerOptions LARGER = SmallStore.OPTIONS.withCapacityBytes(1 << 28);

  @TempDir Path data;

  /** None of these got through when they polled: they took the cores that the server needed. */
  @Test
  void twoHundredConnectWithinTheDefaultTimeout() throws Exception {
    connectOnBusyCores(200, ClientOptions.DEFAULT);
  }

  @Test
  void aThousandConnect() throws Exception {
    connectOnBusyCores(1_000, PATIENT);
  }

  private void connectOnBusyCores(int count, ClientOptions options) throws Exception {
    AtomicBoolean end = new AtomicBoolean();
    List<Thread> busy = new ArrayList<>();
    for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
      busy.add(Thread.ofPlatform().name("busy").start(() -> spin(end)));
    }
    try (ErdaServer server = ErdaServer.start(data, LARGER)) {
      List<FutureTask<ErdaClient>> clients =
          connectAll(count, ErdaUri.parse(server.uri()), options);
      List<Throwable> failures = new ArrayList<>();
      for (FutureTask<ErdaClient> client : clients) {
        try {
          client.get();
        } catch (ExecutionException e) {
          failures.add(e.getCause());
        }
      }
      end.set(true);
      for (FutureTask<ErdaClient> client : clients) {
        if (client.state() == FutureTask.State.SUCCESS) {
          client.resultNow().close();
        }
      }
      assertEquals(
          List.of(), failures.stream().limit(3).toList(), () -> failures.size() + " failed");
    } finally {
      end.set(true);
      for (Thread thread : busy) {
        thread.join();
      }
    }
  }

  private static List<FutureTask<ErdaClient>> connectAll(
      int count, ErdaUri uri, ClientOptions options) {
    CountDownLatch begin = new CountDownLatch(1);
    CountDownLatch connected = new CountDownLatch(count);
    List<FutureTask<ErdaClient>> clients = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] key = ("key-" + i).getBytes(UTF_8);
      FutureTask<ErdaClient> client =
          new FutureTask<>(() -> {
            begin.await();
            ErdaClient erda;
            try {
              erda = ErdaClient.connect(uri, options);
            } finally {
              connected.countDown();
            }
            connected.await();
            erda.put(key, key);
            assertArrayEquals(key, erda.get(key));
            return erda;
          });
      Thread.ofPlatform().name("client-" + i).start(client);
      clients.add(client);
    }
    begin.countDown();
    return clients;
  }

  private static void spin(AtomicBoolean end) {
    while (!end.get()) {
      Thread.onSpinWait();
    }
  }
}
