package io.erda.launcher;

import io.erda.client.ErdaClient;
import io.erda.server.ErdaServer;
import io.erda.server.ServerOptions;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * What {@code ./erda} records its class cache from, once for each build: a small store is served,
 * used by a client and by the short commands, closed, and opened again. Classes that this loads,
 * and profiles of methods that it runs, are there at once when a later JVM starts (JEP 483, JEP
 * 515).
 *
 * <p>Usage: {@code TrainingRun DIRECTORY}, which must not exist yet and is left behind.
 */
final class TrainingRun {
  private static final int KEYS = 2_000;
  private static final int VALUE_BYTES = 1024;

  private TrainingRun() {}

  public static void main(String[] args) {
    run(Path.of(args[0]));
    // As Main ends: the cache is made on the way out.
    System.exit(0);
  }

  static void run(Path data) {
    ServerOptions options =
        ServerOptions.DEFAULTS
            .withHeads(2)
            .withRegionBytes(1 << 20)
            .withSegmentBytes(1 << 16)
            .withCapacityBytes(64 << 20)
            .withBuckets(1 << 12);
    try (ErdaServer server = ErdaServer.start(data, options)) {
      use(server.uri());
      String[] uri = {"--uri", server.uri()};
      command("put", uri[0], uri[1], "greeting", "hello");
      command("get", uri[0], uri[1], "greeting");
      command("stats", uri[0], uri[1]);
      command("ping", uri[0], uri[1]);
    }
    command("verify", "--data", data.toString());
    try (ErdaServer server = ErdaServer.start(data, ServerOptions.DEFAULTS)) {
      command("get", "--uri", server.uri(), "greeting");
      command("delete", "--uri", server.uri(), "greeting");
    }
    command("--help");
    command("server", "--help");
  }

  private static void use(String uri) {
    byte[] value = new byte[VALUE_BYTES];
    try (ErdaClient client = ErdaClient.connect(uri)) {
      for (int i = 0; i < KEYS; i++) {
        client.put(key(i).getBytes(StandardCharsets.UTF_8), value);
      }
      for (int i = 0; i < KEYS; i++) {
        client.get(key(i).getBytes(StandardCharsets.UTF_8));
      }
      client.delete(key(0).getBytes(StandardCharsets.UTF_8));
    }
  }

  private static String key(int number) {
    return "key" + number;
  }

  /** One that fails would be trained for its error message. */
  private static void command(String... line) {
    PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
    // They are not this process's own, and stay as they are; but what looks at them is loaded.
    int exitCode = Main.run(nowhere, nowhere, false, ExactArguments.of(line));
    if (exitCode != 0) {
      throw new IllegalStateException(String.join(" ", line) + ": exit code " + exitCode);
    }
  }
}
