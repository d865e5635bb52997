package io.erda.testbed;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import io.erda.protocol.ErdaException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * A client that {@code testbed/rdma} disturbs: it puts and gets endlessly, checks the values, and
 * prints when an operation failed, after how long and with which message, and when one succeeds
 * again. Any other failure ends it.
 *
 * <pre>RdmaActor URI</pre>
 */
public final class RdmaActor {
  private static final int KEYS = 64;
  private static final int VALUE_BYTES = 1024;

  private RdmaActor() {}

  /** See the class comment. */
  public static void main(String[] args) {
    try (ErdaClient client = ErdaClient.connect(ErdaUri.parse(args[0]), ClientOptions.DEFAULT)) {
      byte[] value = new byte[VALUE_BYTES];
      boolean works = false;
      for (long i = 0; ; i++) {
        byte[] key = ("key" + i % KEYS).getBytes(StandardCharsets.UTF_8);
        Arrays.fill(value, (byte) i);
        long beganNs = System.nanoTime();
        try {
          client.put(key, value);
          if (!Arrays.equals(value, client.get(key))) {
            say("wrong: " + i + " is not what was put");
            System.exit(1);
          }
          if (!works) {
            say("works");
            works = true;
          }
        } catch (ErdaException e) {
          long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNs);
          say("failed after " + ms + " ms: " + e.getMessage());
          works = false;
        }
      }
    }
  }

  private static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
