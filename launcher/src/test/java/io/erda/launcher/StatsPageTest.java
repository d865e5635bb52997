package io.erda.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import io.erda.server.ErdaServer;
import io.erda.server.Listening;
import io.erda.server.ServerOptions;
import io.erda.server.figures.FigureCatalogue;
import io.erda.server.figures.StatsFigure;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The catalogue has exactly the figures that servers have, and {@code docs/stats.md} is written
 * from it.
 */
class StatsPageTest {
  private static final int PUTS_MAX = 1_000;

  /** The heading from which on the page is written from the catalogue. */
  private static final String BEGINNING = "## The store\n";

  @Test
  void thePageIsWrittenFromTheCatalogue() throws IOException {
    Path page = Path.of("..", "docs", "stats.md");
    String is = Files.readString(page, UTF_8);
    int at = is.indexOf(BEGINNING);
    assertTrue(at > 0, "no heading " + BEGINNING);
    String shouldBe = is.substring(0, at) + tables();
    if (Boolean.getBoolean("erda.write")) {
      Files.writeString(page, shouldBe, UTF_8);
    }
    assertEquals(
        shouldBe, is, "to write docs/stats.md anew, run this test with -Derda.write=true, twice");
  }

  private static String tables() {
    StringBuilder text = new StringBuilder();
    for (FigureCatalogue.Group group : FigureCatalogue.groups()) {
      text.append(text.isEmpty() ? "" : "\n").append("## ").append(group.title()).append("\n\n");
      if (!group.when().isEmpty()) {
        text.append(group.when()).append("\n\n");
      }
      text.append("| figure | kind | unit | what it says |\n|---|---|---|---|\n");
      for (StatsFigure each : group.figures()) {
        text.append(
            "| `%s` | %s | %s | %s |\n"
                .formatted(
                    each.name(),
                    each.kind().name().toLowerCase(Locale.ROOT),
                    each.unit().symbol(),
                    each.meaning()));
      }
    }
    return text.toString();
  }

  @Test
  void everyNameStandsInTheCatalogueOnce() {
    Set<String> names = new HashSet<>();
    for (StatsFigure each : FigureCatalogue.all()) {
      assertTrue(names.add(each.name()), each.name() + " stands there twice");
    }
  }

  /** The server in this test has become read-only, because one figure has the reason for that. */
  @Test
  void aServerTellsWhatTheCatalogueHas(@TempDir Path directory) throws Exception {
    Set<String> shown;
    ServerOptions options =
        ServerOptions.DEFAULTS
            .withCapacityBytes(16 << 20)
            .withBuckets(256)
            .withCounted(true)
            .withTimed(true)
            .withListening(List.of(Listening.tcp("127.0.0.1:0")));
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), options);
        ErdaClient client = ErdaClient.connect(server.uri())) {
      becomeReadOnly(client, directory.resolve("data"));
      shown = client.stats().keySet();
      assertEquals(shown, server.figures(Duration.ofSeconds(10)).keySet());
    }
    Set<String> told = new TreeSet<>();
    for (String name : shown) {
      StatsFigure figure = FigureCatalogue.find(name);
      assertNotNull(figure, () -> name + " is not in the catalogue");
      told.add(figure.name());
    }
    Set<String> all = new TreeSet<>();
    FigureCatalogue.all().forEach(each -> all.add(each.name()));
    // Figures of a region or client only exist while the cleaner works.
    all.removeIf(name -> name.contains("HEAD"));
    told.removeIf(name -> name.contains("HEAD"));
    // Figures of an RDMA device only exist with such a device.
    all.removeIf(name -> name.startsWith("rdma."));
    assertEquals(all, told);
  }

  @Test
  void answersAreCountedByKindAndResult(@TempDir Path directory) throws Exception {
    ServerOptions options =
        ServerOptions.DEFAULTS.withCapacityBytes(16 << 20).withBuckets(256).withCounted(true);
    byte[] key = {1};
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), options);
        ErdaClient client = ErdaClient.connect(server.uri())) {
      client.put(key, new byte[10]);
      client.put(key, new byte[11]);
      assertTrue(client.compareAndSet(key, new byte[11], new byte[13]));
      assertTrue(client.compareAndSet(key, new byte[13], new byte[14]));
      assertTrue(client.compareAndDelete(key, new byte[14]));
      client.put(key, new byte[10]);
      assertTrue(client.delete(key));
      assertFalse(client.compareAndDelete(key, new byte[13]));
      Map<String, Long> figures = server.figures(Duration.ofSeconds(10));
      assertEquals(3L, figures.get("requests.answered.put.ok"));
      assertEquals(2L, figures.get("requests.answered.conditionalput.ok"));
      assertEquals(1L, figures.get("requests.answered.delete.ok"));
      assertEquals(1L, figures.get("requests.answered.conditionaldelete.ok"));
      assertEquals(1L, figures.get("connections.accepted"));
      assertTrue(figures.get("disk.bytes.free") > 0);
      assertTrue(figures.get("server.uptime.ns") > 0);
      long answered =
          figures.entrySet().stream()
              .filter(each -> each.getKey().startsWith("requests.answered."))
              .mapToLong(Map.Entry::getValue)
              .sum();
      assertEquals(figures.get("requests"), answered, figures::toString);
    }
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
