package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.client.KeyCursor;
import io.erda.protocol.ErdaException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file of a store that a client has to open is not there any more. */
class RemovedRegionTest {
  private static final byte[] KEY = "key".getBytes(UTF_8);
  private static final byte[] VALUE = new byte[1000];

  @TempDir Path directory;

  /** Found by a review: the client reported a remote access error, and no file. */
  @Test
  void aClientThatCanNotOpenItNamesFileAndError() throws Exception {
    Path data = directory.resolve("data");
    try (ErdaServer server = ErdaServer.start(data, ServerOptions.DEFAULTS);
        ErdaClient before = ErdaClient.connect(server.uri())) {
      before.put(KEY, VALUE);
      List<Path> regions;
      try (Stream<Path> all = Files.list(data)) {
        regions = all.filter(file -> file.getFileName().toString().startsWith("region-")).toList();
      }
      for (Path region : regions) {
        Files.delete(region);
      }
      assertArrayEquals(VALUE, before.get(KEY));
      try (ErdaClient client = ErdaClient.connect(server.uri())) {
        requireNamed(assertThrows(ErdaException.class, () -> client.get(KEY)));
        try (KeyCursor keys = client.keys()) {
          requireNamed(assertThrows(ErdaException.class, keys::next));
        }
      }
    }
  }

  private static void requireNamed(ErdaException e) {
    assertTrue(e.getMessage().contains("region-"), e::toString);
    assertTrue(e.getMessage().contains("No such file or directory"), e::toString);
  }
}
