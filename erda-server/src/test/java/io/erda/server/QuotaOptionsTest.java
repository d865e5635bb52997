package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException.Full;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The quotas of a server with quota options. Over TCP without a secret all clients count as one
 * user's, other than the server's own.
 */
class QuotaOptionsTest {
  private static final long MINUTE_NS = 60_000_000_000L;

  @TempDir private Path directory;

  private ErdaServer start(Quotas quotas) {
    return ErdaServer.start(
        directory.resolve("data"),
        SmallStore.OPTIONS
            .withHeads(1)
            .withQuotas(quotas)
            .withListening(List.of(Listening.tcp("127.0.0.1:0"))));
  }

  private static String tcp(ErdaServer server) {
    return server.uris().stream().filter(uri -> uri.startsWith("erda:")).findFirst().orElseThrow();
  }

  @Test
  void aUserConnectsAsOftenAsItWasSaid() throws InterruptedException {
    try (ErdaServer server = start(Quotas.DEFAULTS.withConnectionsPerUser(1))) {
      try (ErdaClient first = ErdaClient.connect(tcp(server))) {
        first.put(bytes("key"), bytes("value"));
        Full full = assertThrows(Full.class, () -> ErdaClient.connect(tcp(server)).close());
        assertEquals(Full.What.CONNECTIONS, full.what());
        assertTrue(full.getMessage().contains("has all 1 connections that a user"), full::toString);
        try (ErdaClient own = ErdaClient.connect(server.uri())) {
          assertArrayEquals(bytes("value"), own.get(bytes("key")));
        }
        assertEquals(1, server.figures(Duration.ofMinutes(1)).get("connections.refused.user"));
      }
      ErdaClient.connect(tcp(server)).close();
    }
  }

  /** Between the two puts the first one's space must not have been idle: that takes some turns. */
  @Test
  void aClientLeasesAsMuchAsItWasSaid() throws InterruptedException {
    try (ErdaServer server = start(Quotas.DEFAULTS.withLeasedBytesPerClient(2_000));
        ErdaClient client = ErdaClient.connect(server.uri())) {
      Full full = null;
      for (long untilNs = System.nanoTime() + MINUTE_NS;
          full == null && System.nanoTime() - untilNs < 0; ) {
        client.put(bytes("small"), new byte[10]);
        try {
          client.put(bytes("large"), new byte[1_900]);
        } catch (Full e) {
          full = e;
        }
      }
      assertNotNull(full, "nothing was refused in a minute");
      assertEquals(Full.What.QUOTA, full.what());
      assertTrue(
          full.getMessage()
              .endsWith("over quota: the server leases at most 2000 bytes of the log to a client"),
          full::toString);
      assertTrue(server.figures(Duration.ofMinutes(1)).get("requests.refused.quota") > 0);
      client.put(bytes("small"), bytes("again"));
      assertArrayEquals(bytes("again"), client.get(bytes("small")));
    }
  }

  /** A client that knows the limit is never refused anything for it. */
  @Test
  void aClientKeepsToTheOperationsItMayHave() throws InterruptedException {
    try (ErdaServer server = start(Quotas.DEFAULTS.withOperationsPerClient(2));
        ErdaClient client = ErdaClient.connect(server.uri())) {
      List<byte[]> keys = new ArrayList<>();
      List<byte[]> values = new ArrayList<>();
      for (int i = 0; i < 500; i++) {
        keys.add(bytes("key " + i));
        values.add(bytes("value " + i));
      }
      client.putAll(keys, values);
      assertArrayEquals(bytes("value 7"), client.get(bytes("key 7")));
      assertEquals(0, server.figures(Duration.ofMinutes(1)).get("requests.refused.quota"));
    }
  }

  @Test
  void aQuotaIsNotNegative() {
    assertThrows(IllegalArgumentException.class, () -> Quotas.DEFAULTS.withLeasedBytesPerUser(-1));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }
}
