package io.erda.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.server.ErdaServer;
import io.erda.server.Listening;
import io.erda.server.ServerOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code docs/stats.md} explains every figure that a server shows, and no other. */
class StatsPageTest {
  private static final Pattern ROW = Pattern.compile("^\\| (`[^|]*`) \\|.*$", Pattern.MULTILINE);
  private static final Pattern NAME = Pattern.compile("`([a-zA-Z.]+)`");

  @Test
  void everyFigureStandsOnThePageOnce(@TempDir Path directory) throws Exception {
    Set<String> shown;
    ServerOptions options =
        ServerOptions.DEFAULTS
            .withCapacityBytes(16 << 20)
            .withBuckets(256)
            .withCounted(true)
            .withListening(List.of(Listening.tcp("127.0.0.1:0")));
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), options);
        ErdaClient client = ErdaClient.connect(server.uri())) {
      shown = new TreeSet<>(client.stats().keySet());
    }
    shown.removeIf(name -> name.startsWith("region."));
    Set<String> explained = new TreeSet<>();
    Matcher row = ROW.matcher(Files.readString(Path.of("..", "docs", "stats.md"), UTF_8));
    while (row.find()) {
      Matcher name = NAME.matcher(row.group(1));
      while (name.find()) {
        assertTrue(explained.add(name.group(1)), name.group(1) + " stands there twice");
      }
    }
    // Names with a part for each region or client.
    explained.removeIf(name -> name.contains("HEAD"));
    assertEquals(shown, explained);
  }
}
