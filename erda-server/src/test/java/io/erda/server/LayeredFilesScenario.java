package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.client.ErdaClient;
import java.nio.file.Path;

/**
 * The part of {@link LayeredFilesTest} that runs in a separate process, over a store in the lower
 * layer of its file system. It ends at the first unexpected result.
 */
final class LayeredFilesScenario {
  private LayeredFilesScenario() {}

  public static void main(String[] arguments) {
    Path data = Path.of(arguments[0]);
    byte[] key = "key".getBytes(UTF_8);
    try (ErdaClient reader = ErdaClient.connect("erda+shm:" + data + "?read-only")) {
      require("below", reader.get(key));
      try (ErdaServer server = ErdaServer.start(data, ServerOptions.DEFAULTS);
          ErdaClient writer = ErdaClient.connect(server.uri())) {
        for (int i = 0; i < 100; i++) {
          writer.put(key, ("above " + i).getBytes(UTF_8));
          require("above " + i, reader.get(key));
        }
      }
    }
    System.out.println("done");
  }

  private static void require(String expected, byte[] value) {
    String found = new String(value, UTF_8);
    if (!found.equals(expected)) {
      throw new AssertionError("expected " + expected + ", was " + found);
    }
  }
}
