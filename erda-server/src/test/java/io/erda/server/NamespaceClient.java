package io.erda.server;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import io.erda.protocol.ErdaException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;

/**
 * A client for {@link NetworkNamespaceTest}: connects to a URI, and for each line that it is given
 * puts and gets so many keys, or connects another client where the line says {@code connect}. Says
 * {@code done}, or which error the first operation that failed ended with, after how many
 * milliseconds, and its message.
 */
final class NamespaceClient {
  static final Duration OPERATION_TIMEOUT = Duration.ofSeconds(3);
  static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);

  private NamespaceClient() {}

  public static void main(String[] arguments) throws Exception {
    ErdaUri uri = ErdaUri.parse(arguments[0]);
    ClientOptions options = ClientOptions.DEFAULT.withOperationTimeout(OPERATION_TIMEOUT);
    BufferedReader orders =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    try (ErdaClient client =
        ErdaClient.connect(uri, options.withConnectTimeout(Duration.ofSeconds(20)))) {
      System.out.println("connected");
      for (String line = orders.readLine(); line != null; line = orders.readLine()) {
        System.out.println(
            line.equals("connect")
                ? connect(uri, options.withConnectTimeout(CONNECT_TIMEOUT))
                : work(client, Integer.parseInt(line)));
      }
    }
  }

  private static String connect(ErdaUri uri, ClientOptions options) {
    long startNs = System.nanoTime();
    try (ErdaClient another = ErdaClient.connect(uri, options)) {
      return another.get(new byte[] {1}) == null ? "done" : "a value of nobody's";
    } catch (ErdaException e) {
      return describe(e, startNs);
    }
  }

  private static String work(ErdaClient client, int keys) {
    Random random = new Random(keys);
    long startNs = 0;
    try {
      for (int i = 0; i < keys; i++) {
        byte[] key = ("key " + i).getBytes(StandardCharsets.US_ASCII);
        byte[] value = new byte[random.nextInt(i % 10 == 0 ? 100_000 : 1000)];
        random.nextBytes(value);
        startNs = System.nanoTime();
        client.put(key, value);
        startNs = System.nanoTime();
        if (!Arrays.equals(value, client.get(key))) {
          return "wrong value of key " + i;
        }
      }
      return "done";
    } catch (ErdaException e) {
      return describe(e, startNs);
    }
  }

  private static String describe(ErdaException e, long startNs) {
    long ms = (System.nanoTime() - startNs) / 1_000_000;
    return e.getClass().getSimpleName() + " " + ms + " " + e.getMessage();
  }
}
