package io.erda.launcher;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import io.erda.eval.process.ServerChild;
import io.erda.protocol.ErdaException;
import io.erda.server.ErdaStore;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients of a server that was killed, while an application opens the store with {@link ErdaStore}:
 * they still map the regions, and one of them may be in the middle of a WRITE.
 */
@Timeout(60)
class OldClientsTest {
  private static final List<String> SMALL =
      List.of(
          "--region-bytes",
          "256K",
          "--segment-bytes",
          "64K",
          "--capacity",
          "2M",
          "--buckets",
          "16384",
          "--heads",
          "1");
  private static final int KEYS = 800;
  private static final int VALUE_BYTES = 1000;

  /** Far longer than the test: nothing here ends because a client's patience ended. */
  private static final ClientOptions PATIENT =
      ClientOptions.DEFAULT.withOperationTimeout(Duration.ofMinutes(10));

  @TempDir Path directory;

  private final List<ErdaClient> old = new ArrayList<>();
  private final int[] versions = new int[KEYS];
  private Path data;

  @BeforeEach
  void killAServerOverItsClients() throws Exception {
    data = directory.resolve("data");
    try (Children children = new Children()) {
      ServerChild server = ServerChild.start(children, Jvm.current(), data, SMALL);
      for (int i = 0; i < 4; i++) {
        ErdaClient client = ErdaClient.connect(ErdaUri.parse(server.uri()), PATIENT);
        client.put(key("old", i), value(i, 0));
        old.add(client);
      }
      server.kill();
    }
  }

  @AfterEach
  void closeClients() {
    old.forEach(ErdaClient::close);
  }

  @Test
  void noFileIsUsedAgainInPlaceWhileAnOldClientMayStoreIntoIt() {
    try (ErdaStore store = ErdaStore.open(data);
        ErdaClient erda = store.client()) {
      overwrite(erda, 8_000);
      Map<String, Long> figures = erda.stats();
      assertTrue(figures.get("cleaner.cleanings") > 10, figures::toString);
      assertEquals(0, figures.get("cleaner.regions.reused"), figures::toString);
      old.forEach(ErdaClient::close);
      overwrite(erda, 8_000);
      assertTrue(erda.stats().get("cleaner.regions.reused") > 0, "they left: " + erda.stats());
      check(erda);
    }
  }

  @Test
  void whatAnOldClientWritesLandsNowhereAndItIsToldSo() {
    try (ErdaStore store = ErdaStore.open(data);
        ErdaClient erda = store.client()) {
      overwrite(erda, 2_000);
      for (int i = 0; i < old.size(); i++) {
        ErdaClient client = old.get(i);
        byte[] key = key("old", i);
        ErdaException put =
            assertThrows(ErdaException.class, () -> client.put(key, new byte[VALUE_BYTES]));
        assertInstanceOf(ErdaException.Refused.class, put);
        assertTrue(put.getMessage().contains("open in an application"), put.getMessage());
        ErdaException get = assertThrows(ErdaException.class, () -> client.get(key));
        assertTrue(get.getMessage().contains("open in an application"), get.getMessage());
        assertArrayEquals(value(i, 0), erda.get(key));
      }
      overwrite(erda, 2_000);
      check(erda);
    }
  }

  private void overwrite(ErdaClient erda, int puts) {
    Random random = new Random(puts);
    for (int i = 0; i < puts; i++) {
      int key = random.nextInt(KEYS);
      erda.put(key("new", key), value(key, ++versions[key]));
    }
  }

  private void check(ErdaClient erda) {
    for (int key = 0; key < KEYS; key++) {
      if (versions[key] > 0) {
        assertArrayEquals(value(key, versions[key]), erda.get(key("new", key)));
      }
    }
  }

  private static byte[] key(String prefix, int number) {
    return (prefix + number).getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] value(int key, int version) {
    byte[] value = new byte[VALUE_BYTES];
    new Random(31L * key + version).nextBytes(value);
    return value;
  }
}
