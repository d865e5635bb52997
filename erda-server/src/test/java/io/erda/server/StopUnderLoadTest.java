package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import io.erda.testing.Threads;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A server is stopped in order while puts wait for the disk. Found by reading: the connections of
 * another device had ended before they were answered, and the stop ended as a failure.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StopUnderLoadTest {
  private static final int STOPS = 4;
  private static final int PUTS_BEFORE = 20;

  private static final ServerOptions OPTIONS =
      SmallStore.OPTIONS
          .withPromise(Promise.POWER)
          .withListening(List.of(Listening.tcp("127.0.0.1:0")));

  @TempDir Path data;

  @Test
  void aStopPublishesWhatItHasAndAnswers() throws Exception {
    Disk.assumeHolds(data);
    for (int stop = 0; stop < STOPS; stop++) {
      ErdaServer server = ErdaServer.start(data, OPTIONS);
      AtomicInteger puts = new AtomicInteger();
      List<FutureTask<Throwable>> clients = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        String uri = server.uris().get(i % 2);
        String name = "client " + i + " of stop " + stop;
        clients.add(Threads.start(name, () -> putUntilItStops(uri, name, puts)));
      }
      while (puts.get() < PUTS_BEFORE) {
        Thread.sleep(1);
      }
      server.close();
      Throwable failure = server.await();
      assertNull(failure, () -> "the server ended with " + failure);
      for (FutureTask<Throwable> client : clients) {
        Throwable thrown = client.get();
        assertNull(thrown, () -> String.valueOf(thrown));
      }
    }
  }

  /** Puts until no server answers. */
  private static void putUntilItStops(String uri, String name, AtomicInteger puts) {
    try (ErdaClient erda = ErdaClient.connect(uri)) {
      for (int i = 0; ; i++) {
        erda.put((name + ", key " + i % 50).getBytes(UTF_8), new byte[200]);
        puts.incrementAndGet();
      }
    } catch (ErdaException.Unavailable | ErdaException.OutcomeUnknown stopped) {
      assertTrue(puts.get() > 0);
    }
  }
}
