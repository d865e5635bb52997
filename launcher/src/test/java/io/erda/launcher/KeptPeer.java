package io.erda.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import io.erda.client.KeyCursor;
import io.erda.protocol.ErdaException;
import io.erda.server.ErdaServer;
import io.erda.server.Listening;
import io.erda.server.ServerOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A server or a client in a separate process, of the version that comes first on the class path. It
 * uses only methods that every kept version has.
 */
final class KeptPeer {
  private KeptPeer() {}

  /**
   * {@code server DIRECTORY HOST:PORT} serves until its input has a line, or ends; {@code client
   * URI} does what the lines of its input say, {@code put KEY VALUE}, {@code set KEY EXPECTED
   * VALUE}, {@code get KEY}, {@code delete KEY} or {@code keys}, each with one line of output:
   * {@code done}, {@code absent}, {@code value V}, the number of keys, or {@code failed CLASS:
   * MESSAGE}.
   */
  public static void main(String[] arguments) throws IOException {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    if (arguments[0].equals("server")) {
      ServerOptions options =
          ServerOptions.DEFAULTS
              .withCapacityBytes(64 << 20)
              .withRegionBytes(1 << 20)
              .withBuckets(64)
              .withLog(System.getLogger("io.erda.server"))
              .withListening(List.of(Listening.tcp(arguments[2])));
      try (ErdaServer server = ErdaServer.start(Path.of(arguments[1]), options)) {
        System.out.println("serves " + server.uris().get(1));
        in.readLine();
      }
    } else {
      client(arguments[1], in);
    }
  }

  private static void client(String uri, BufferedReader in) throws IOException {
    ClientOptions quick =
        ClientOptions.DEFAULT
            .withConnectTimeout(Duration.ofSeconds(2))
            .withOperationTimeout(Duration.ofSeconds(2));
    ErdaClient client = null;
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ");
      try {
        client = client == null ? ErdaClient.connect(ErdaUri.parse(uri), quick) : client;
        System.out.println(answer(client, words));
      } catch (ErdaException e) {
        System.out.println("failed " + e.getClass().getSimpleName() + ": " + e.getMessage());
      }
    }
    if (client != null) {
      client.close();
    }
  }

  private static String answer(ErdaClient client, String[] words) {
    if (words[0].equals("keys")) {
      int count = 0;
      try (KeyCursor keys = client.keys()) {
        while (keys.next()) {
          count++;
        }
      }
      return count + "";
    }
    byte[] key = words[1].getBytes(UTF_8);
    switch (words[0]) {
      case "put" -> client.put(key, words[2].getBytes(UTF_8));
      case "set" -> {
        return client.compareAndSet(key, words[2].getBytes(UTF_8), words[3].getBytes(UTF_8))
            ? "done"
            : "another value";
      }
      case "delete" -> {
        return client.delete(key) ? "done" : "absent";
      }
      default -> {
        byte[] value = client.get(key);
        return value == null ? "absent" : "value " + new String(value, UTF_8);
      }
    }
    return "done";
  }
}
