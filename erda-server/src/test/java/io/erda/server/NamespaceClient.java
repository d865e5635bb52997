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
 * puts and gets so many keys. Says what came of it.
 */
final class NamespaceClient {
  private NamespaceClient() {}

  public static void main(String[] arguments) throws Exception {
    ClientOptions options =
        ClientOptions.DEFAULT
            .withConnectTimeout(Duration.ofSeconds(20))
            .withOperationTimeout(Duration.ofSeconds(3));
    BufferedReader orders =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    try (ErdaClient client = ErdaClient.connect(ErdaUri.parse(arguments[0]), options)) {
      System.out.println("connected");
      for (String line = orders.readLine(); line != null; line = orders.readLine()) {
        System.out.println(work(client, Integer.parseInt(line)));
      }
    }
  }

  private static String work(ErdaClient client, int keys) {
    Random random = new Random(keys);
    try {
      for (int i = 0; i < keys; i++) {
        byte[] key = ("key " + i).getBytes(StandardCharsets.US_ASCII);
        byte[] value = new byte[random.nextInt(i % 10 == 0 ? 100_000 : 1000)];
        random.nextBytes(value);
        client.put(key, value);
        if (!Arrays.equals(value, client.get(key))) {
          return "wrong value of key " + i;
        }
      }
      return "done";
    } catch (ErdaException.Unavailable | ErdaException.OutcomeUnknown e) {
      return "unavailable";
    }
  }
}
