package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import io.erda.server.engine.files.StoreFiles;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** The part of {@link FailedWriteTest} that runs in a separate process, beside its device. */
final class FailedWriteScenario {
  private static final ServerOptions OPTIONS =
      ServerOptions.DEFAULTS
          .withHeads(1)
          .withRegionBytes(1 << 20)
          .withSegmentBytes(1 << 16)
          .withCapacityBytes(64 << 20)
          .withBuckets(1024);

  private static final int KEYS = 1000;
  private static final long PATIENCE_NS = 60_000_000_000L;

  private FailedWriteScenario() {}

  /** Arguments: the scenario, where the device is mounted, and the directory that it is in. */
  public static void main(String[] arguments) throws Exception {
    Path data = Path.of(arguments[1]).resolve("data");
    ErdaServer server = ErdaServer.start(data, OPTIONS);
    try (ErdaClient client = ErdaClient.connect(server.uri())) {
      client.put(key(0), value());
      fill(Path.of(arguments[2]).resolve("rest"));
      for (int key = 1; key < KEYS; key++) {
        client.put(key(key), value());
      }
      // The kernel does this by itself, half a minute after a put.
      int code = new ProcessBuilder("sync", "-f", data.toString()).start().waitFor();
      require(code != 0, "the device took everything");
      if (arguments[0].equals("served")) {
        requireRefused(server, client);
      }
    }
    server.close();
    String said = "" + server.await();
    System.out.println("the server: " + said);
    require(said.contains("the device did not take bytes of a file of the store"), said);
    require(
        !Files.exists(data.resolve(StoreFiles.STOPPED)),
        "a clean stop was recorded, untrue as it is");
    System.out.println("done");
  }

  private static void requireRefused(ErdaServer server, ErdaClient client) throws Exception {
    long untilNs = System.nanoTime() + PATIENCE_NS;
    while (server.figures(Duration.ofSeconds(60)).get("store.readonly") == 0) {
      require(System.nanoTime() - untilNs < 0, "the server does not see that bytes are lost");
      Thread.sleep(20);
    }
    try {
      client.put(key(0), value());
      require(false, "a put into a store whose device fails");
    } catch (ErdaException.ReadOnly e) {
      System.out.println(e.getMessage());
    }
    require(client.get(key(1)) != null, "a key is missing");
  }

  private static void fill(Path rest) throws IOException {
    byte[] bytes = new byte[1 << 12];
    try (OutputStream out = Files.newOutputStream(rest)) {
      while (true) {
        out.write(bytes);
      }
    } catch (IOException e) {
      System.out.println(e.getMessage());
    }
  }

  private static byte[] key(int key) {
    return ("key" + key).getBytes(UTF_8);
  }

  private static byte[] value() {
    return "x".repeat(10_000).getBytes(UTF_8);
  }

  private static void require(boolean condition, String what) {
    if (!condition) {
      throw new AssertionError(what);
    }
  }
}
