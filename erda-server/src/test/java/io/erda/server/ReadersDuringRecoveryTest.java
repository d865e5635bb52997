package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.erda.client.ErdaClient;
import io.erda.protocol.Promise;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Reads over shared memory go on until another server serves, not until one tries to: a server that
 * dies while it recovers takes nothing from its readers.
 */
class ReadersDuringRecoveryTest {
  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS
          .withHeads(1)
          .withRegionBytes(1 << 16)
          .withSegmentBytes(4096)
          .withCapacityBytes(1 << 20)
          .withBuckets(64);
  private static final byte[] KEY = "key".getBytes(UTF_8);
  private static final byte[] VALUE = "value".getBytes(UTF_8);

  @TempDir Path data;

  @ParameterizedTest
  @EnumSource(names = {"PROCESS", "POWER"})
  void aServerThatNeverGetsToServe(Promise promise) throws Exception {
    ServerOptions options = SMALL.withPromise(promise);
    ErdaServer first = ErdaServer.start(data, options);
    try (ErdaClient client = ErdaClient.connect(first.uri())) {
      client.put(KEY, VALUE);
      first.close();
      requireReads(client);
      for (int i = 0; i < 3; i++) {
        // As far as a server comes before it says that it serves.
        OpenedStore opened = OpenedStore.open(data, options, OpenedStore.Purpose.SERVE);
        requireReads(client);
        opened.close();
        requireReads(client);
        assertEquals(List.of(), StoreVerifier.verify(data).findings());
        requireReads(client);
      }
      try (ErdaServer next = ErdaServer.start(data, options);
          ErdaClient another = ErdaClient.connect(next.uri())) {
        another.put(KEY, KEY);
        assertArrayEquals(KEY, client.get(KEY), "the next one that serves is noticed");
      }
    }
  }

  private static void requireReads(ErdaClient client) {
    assertArrayEquals(VALUE, client.get(KEY));
    assertNull(client.get(VALUE));
  }
}
