package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A server whose JVM has memory for fewer clients than {@code --connections} says. Found by a
 * tester: the client that was one too many ended the server.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CrowdedServerTest {
  private static final byte[] KEY = "key".getBytes(UTF_8);
  private static final String MEMORY = "-XX:MaxDirectMemorySize=12m";
  private static final int CLIENTS = 60;
  private static final int FEWEST = 8;

  @TempDir Path directory;

  @Test
  void overSharedMemory() throws Exception {
    crowd();
  }

  @Test
  void overTcp() throws Exception {
    crowd(ServedElsewhere.LISTENS);
  }

  private void crowd(String... flags) throws Exception {
    List<String> all = new ArrayList<>(List.of(flags));
    all.add(MEMORY);
    Path data = directory.resolve("data");
    try (ServedElsewhere served = ServedElsewhere.start(data, all.toArray(String[]::new))) {
      List<ErdaClient> clients = new ArrayList<>();
      ErdaException.Full full = null;
      while (full == null && clients.size() < CLIENTS) {
        try {
          clients.add(ErdaClient.connect(served.uri()));
        } catch (ErdaException.Full e) {
          full = e;
        }
      }
      assertNotNull(full, "there is room for " + CLIENTS);
      String told = full.getMessage();
      assertTrue(told.contains("no memory for another client"), told);
      assertTrue(clients.size() >= FEWEST, () -> clients.size() + " clients");
      for (ErdaClient each : clients) {
        each.put(KEY, KEY);
        assertArrayEquals(KEY, each.get(KEY));
      }
      clients.forEach(ErdaClient::close);
      connectAgain(served);
      assertTrue(served.isServing(), served::output);
    }
  }

  /** The memory of those that have left is found again, within seconds. */
  private static void connectAgain(ServedElsewhere served) throws InterruptedException {
    while (true) {
      try (ErdaClient again = ErdaClient.connect(served.uri())) {
        assertArrayEquals(KEY, again.get(KEY));
        return;
      } catch (ErdaException.Full e) {
        Thread.sleep(50);
      }
    }
  }
}
