package io.erda.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import io.erda.server.ErdaServer;
import io.erda.server.Listening;
import io.erda.server.ServerOptions;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code docs/stats.md} explains every figure that a server shows, and no other. The server here
 * has become read-only, because a figure says why.
 */
class StatsPageTest {
  private static final Pattern ROW = Pattern.compile("^\\| (`[^|]*`) \\|.*$", Pattern.MULTILINE);
  private static final String REASON = "store.readonly.reason";
  private static final int PUTS_MAX = 1_000;
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
      becomeReadOnly(client, directory.resolve("data"));
      shown = new TreeSet<>(client.stats().keySet());
    }
    // The name of this figure holds the reason.
    assertTrue(shown.removeIf(name -> name.startsWith(REASON + "=")), () -> shown.toString());
    shown.add(REASON);
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

  /** Shortens the files of the log, and puts until the server has met the end of one. */
  private static void becomeReadOnly(ErdaClient client, Path data) throws IOException {
    byte[] value = new byte[1024];
    for (int i = 0; i < 32; i++) {
      client.put(("before " + i).getBytes(UTF_8), value);
    }
    try (DirectoryStream<Path> regions = Files.newDirectoryStream(data, "region-*")) {
      for (Path region : regions) {
        try (FileChannel file = FileChannel.open(region, WRITE)) {
          file.truncate(4096);
        }
      }
    }
    for (int i = 0; i < PUTS_MAX; i++) {
      try {
        client.put(("after " + i).getBytes(UTF_8), value);
      } catch (ErdaException e) {
        return;
      }
    }
    fail("the server has not met the end of a region's file in " + PUTS_MAX + " puts");
  }
}
