package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
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
 * A server with a small heap, to which clients connect until it takes no more. Found by a tester:
 * the heap was full before the memory outside of it, and the server ended.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class FullHeapTest {
  private static final int CLIENTS_MAX = 1000;

  @TempDir private Path directory;

  @Test
  void aClientForWhichTheHeapHasNoRoomIsRefused() throws Exception {
    byte[] key = "key".getBytes(UTF_8);
    List<ErdaClient> clients = new ArrayList<>();
    try (ServedElsewhere server =
        ServedElsewhere.start(directory.resolve("data"), "-Xmx12m", "-XX:MaxDirectMemorySize=2g")) {
      String refused = null;
      while (refused == null && clients.size() < CLIENTS_MAX) {
        try {
          clients.add(server.connect());
        } catch (ErdaException.Full e) {
          refused = e.getMessage();
        }
      }
      assertTrue(refused != null && refused.contains("-Xmx"), clients.size() + ": " + refused);
      for (ErdaClient each : clients) {
        each.put(key, key);
      }
      assertArrayEquals(key, clients.getFirst().get(key));
      clients.removeLast().close();
      assertEquals(1, clients.getFirst().stats().get("connections.refused"));
      assertTrue(server.isServing(), server::output);
    } finally {
      clients.forEach(ErdaClient::close);
    }
  }
}
