package io.erda.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
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
 * A server or a client in a process of its own, of whatever version comes first on the class path.
 * It uses only what every kept version has.
 */
final class KeptPeer {
  private KeptPeer() {}

  /**
   * {@code server DIRECTORY HOST:PORT} serves until its input has a line, or ends; {@code client
   * URI} does what the lines of its input say, {@code put KEY VALUE} or {@code get KEY}, each with
   * one line of output: {@code done}, {@code value V}, or {@code failed CLASS: MESSAGE}.
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
        if (words[0].equals("put")) {
          client.put(words[1].getBytes(UTF_8), words[2].getBytes(UTF_8));
          System.out.println("done");
        } else {
          byte[] value = client.get(words[1].getBytes(UTF_8));
          System.out.println(value == null ? "absent" : "value " + new String(value, UTF_8));
        }
      } catch (ErdaException e) {
        System.out.println("failed " + e.getClass().getSimpleName() + ": " + e.getMessage());
      }
    }
    if (client != null) {
      client.close();
    }
  }
}
