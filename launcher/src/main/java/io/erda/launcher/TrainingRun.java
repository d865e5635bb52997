package io.erda.launcher;

import io.erda.client.ErdaClient;
import io.erda.server.ErdaServer;
import io.erda.server.ServerOptions;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The run from which {@code ./erda} records its class caches, once for each build. Later JVMs start
 * with the classes that it loads, and with the profiles of methods that it runs (JEP 483, JEP 515).
 * A JVM loads all classes of its cache, needed or not, so there are two caches: one of everything,
 * and one for short commands.
 *
 * <p>Usage: {@code TrainingRun DIRECTORY}, which must not exist yet and is not removed: a small
 * store is served, used by a client and by the short commands, closed, and opened again. {@code
 * TrainingRun --uri URI}: only the short commands, with a server that is already running.
 */
final class TrainingRun {
  private static final int KEYS = 2_000;
  private static final int VALUE_BYTES = 1024;
  private static final int ABSENT = 3;

  private TrainingRun() {}

  public static void main(String[] args) {
    if (args[0].equals("--uri")) {
      useShortCommands(args[1]);
    } else {
      run(Path.of(args[0]));
    }
    // Exit as Main does: the cache is made at the exit.
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

  private static void useShortCommands(String uri) {
    command(0, "put", "--uri", uri, "greeting", "hello");
    command(0, "get", "--uri", uri, "greeting");
    command(0, "get", "--uri", uri, "greeting", "greeting");
    command(0, "exists", "--uri", uri, "greeting");
    command(0, "keys", "--uri", uri);
    command(0, "delete", "--uri", uri, "greeting");
    command(ABSENT, "get", "--uri", uri, "greeting");
    command(0, "ping", "--uri", uri);
    command(0, "stats", "--uri", uri);
    command(0, "top", "--uri", uri, "--count", "1");
    command(0, "--help");
    command(0, "get", "--help");
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

  private static void command(String... line) {
    command(0, line);
  }

  /** Runs a command. One that failed unexpectedly would be trained for its error message. */
  private static void command(int expected, String... line) {
    PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
    // These are not the process's own arguments and stay unchanged; the call loads the class that
    // examines them.
    int exitCode = Main.run(nowhere, nowhere, false, ExactArguments.of(line));
    if (exitCode != expected) {
      throw new IllegalStateException(String.join(" ", line) + ": exit code " + exitCode);
    }
  }
}
