package io.erda.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import io.erda.server.ErdaServer;
import io.erda.server.ServerOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Found by a review: what a backup had written stayed when a signal ended it. */
@Tag("long")
class InterruptedBackupTest {
  private static final Duration LONG = Duration.ofSeconds(60);

  /** With --share 1 this many take many times longer than the first of them. */
  private static final int KEYS = 30_000;

  @TempDir Path directory;

  private final Children children = new Children();
  private ErdaServer server;
  private Path backups;

  @BeforeEach
  void serve() throws IOException {
    server =
        ErdaServer.start(
            directory.resolve("data"),
            ServerOptions.DEFAULTS
                .withRegionBytes(1 << 20)
                .withSegmentBytes(1 << 18)
                .withCapacityBytes(32 << 20)
                .withBuckets(1 << 16));
    try (ErdaClient client = ErdaClient.connect(server.uri())) {
      for (int i = 0; i < KEYS; i++) {
        client.put(("key " + i).getBytes(UTF_8), new byte[100]);
      }
    }
    backups = Files.createDirectory(directory.resolve("backups"));
  }

  @AfterEach
  void end() {
    children.close();
    server.close();
  }

  private List<String> files() {
    try (Stream<Path> files = Files.list(backups)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private long written() {
    return files().stream().filter(file -> backups.resolve(file).toFile().length() > 0).count();
  }

  private Child backUp(String share) {
    List<String> command =
        Jvm.current().erda("backup", "--uri", server.uri(), "--share", share, backups.toString());
    return children.start("erda backup", WithSignals.unignored(command));
  }

  /** Returns one that has begun to write its file, and is far from its end. */
  private Child begun(int files) {
    Child backup = backUp("1");
    backup.awaitThat("begin", () -> written() == files, LONG);
    return backup;
  }

  private static void signal(String name, Child child) throws Exception {
    assertEquals(0, new ProcessBuilder("kill", "-" + name, "" + child.pid()).start().waitFor());
  }

  @ParameterizedTest
  @CsvSource({"INT, 130", "TERM, 143", "HUP, 129"})
  void aSignalLeavesNothing(String name, int exitCode) throws Exception {
    Child backup = begun(1);
    signal(name, backup);
    assertEquals(exitCode, backup.awaitEnd(LONG), backup::errorTail);
    assertEquals(List.of(), files());
  }

  @Test
  void whatAKillLeftTheNextRemovesAndNoOther() throws Exception {
    Child running = begun(1);
    List<String> itsFile = files();
    Child killed = begun(2);
    signal("KILL", killed);
    assertEquals(137, killed.awaitEnd(LONG));
    assertEquals(2, files().size(), "nobody was there to remove it");
    Child next = backUp("100");
    assertEquals(0, next.awaitEnd(LONG), next::errorTail);
    assertTrue(running.isAlive(), running::errorTail);
    assertEquals(List.of("erda.backup", itsFile.getFirst()), files());
    signal("TERM", running);
    assertEquals(143, running.awaitEnd(LONG));
    assertEquals(List.of("erda.backup"), files());
  }
}
