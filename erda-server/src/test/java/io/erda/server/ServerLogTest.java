package io.erda.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.ResourceBundle;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The lines that a server logs, and that the log never blocks the server. */
class ServerLogTest {
  /** Keeps lines; a line waits while the latch is closed. */
  private static final class Kept implements System.Logger {
    final List<String> lines = new CopyOnWriteArrayList<>();
    final CountDownLatch open = new CountDownLatch(1);
    volatile String failing;

    @Override
    public String getName() {
      return "kept";
    }

    @Override
    public boolean isLoggable(Level level) {
      return true;
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String text, Throwable thrown) {
      throw new AssertionError(thrown);
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String text, Object... parameters) {
      try {
        open.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      if (text.equals(failing)) {
        throw new IllegalStateException("the disk of the log is full");
      }
      lines.add(level + " " + text);
    }

    void await(String part) {
      await(part, 1);
    }

    void await(String part, int times) {
      long untilNs = System.nanoTime() + 60_000_000_000L;
      while (count(part) < times) {
        assertTrue(System.nanoTime() - untilNs < 0, () -> "no line in a minute: " + part);
        LockSupport.parkNanos(1_000_000);
      }
    }

    long count(String part) {
      return lines.stream().filter(line -> line.contains(part)).count();
    }
  }

  private final Kept log = new Kept();

  @Test
  void aLineForWhatHappens(@TempDir Path directory) {
    log.open.countDown();
    ServerOptions small =
        ServerOptions.DEFAULTS
            .withRegionBytes(1 << 18)
            .withSegmentBytes(1 << 16)
            .withCapacityBytes(1 << 20)
            .withBuckets(64)
            .withConnectionsMax(1)
            .withLog(log);
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), small)) {
      try (ErdaClient client = ErdaClient.connect(server.uri())) {
        assertThrows(ErdaException.class, () -> ErdaClient.connect(server.uri()));
        // Beyond the capacity: the table doubles, the log is cleaned.
        for (int i = 0; i < 2_000; i++) {
          client.put(new byte[] {(byte) (i % 100)}, new byte[2_000]);
        }
        assertThrows(ErdaException.Full.class, () -> fill(client));
      }
      // A server that stops first has no client left that could leave.
      log.await("DEBUG client 1 left");
    }
    String all = String.join("\n", log.lines);
    assertTrue(log.lines.getFirst().startsWith("INFO serves " + directory), all);
    assertTrue(log.lines.getFirst().contains("promise process, puts publish"), all);
    assertEquals(1, log.count("DEBUG client 1 connected (process "), all);
    assertEquals(1, log.count("): all 1 connections are taken"), all);
    assertTrue(log.count("INFO cleaned head 0, region ") > 0, all);
    assertTrue(log.count("INFO doubled the table from 64 to 128 buckets in ") > 0, all);
    assertTrue(log.count("WARNING the log is full: refused a request of client 1 for ") > 0, all);
    assertEquals(1, log.count("DEBUG client 1 left"), all);
    assertEquals("INFO ended", log.lines.getLast());
  }

  /**
   * Found by a review: clients reported that there was no server, and the server logged nothing.
   */
  @Test
  void aSocketThatWasRemovedIsMadeAnewAndADirectoryIsMissed(@TempDir Path directory)
      throws Exception {
    log.open.countDown();
    Path shm = directory.resolve("data").resolve("shm");
    try (ErdaServer server =
        ErdaServer.start(directory.resolve("data"), ServerOptions.DEFAULTS.withLog(log))) {
      for (int i = 1; i <= 2; i++) {
        Files.delete(shm.resolve("socket"));
        log.await("socket was removed: it was made anew", i);
        ErdaClient.connect(server.uri()).close();
      }
      try (ErdaClient client = ErdaClient.connect(server.uri())) {
        Files.move(shm, directory.resolve("elsewhere"));
        log.await("the directory " + shm + " was removed or replaced");
        client.put(new byte[1], new byte[1]);
      }
    }
  }

  /** Found by a stranger: clients reported that there was no server, and the server nothing. */
  @Test
  void aRegistryThatWasShortenedIsMissed(@TempDir Path directory) throws Exception {
    log.open.countDown();
    Path registry = directory.resolve("data").resolve("shm").resolve("registry");
    try (ErdaServer server =
        ErdaServer.start(directory.resolve("data"), ServerOptions.DEFAULTS.withLog(log))) {
      Files.write(registry, new byte[0]);
      log.await(registry + " was removed or shortened: clients of this host that are connected");
      assertThrows(ErdaException.Unavailable.class, () -> ErdaClient.connect(server.uri()));
    }
  }

  /**
   * Those that the device turns away are named and counted too, though the service never sees them.
   */
  @Test
  void whoeverIsTurnedAwayOverTcpIsNamedAndCounted(@TempDir Path directory) throws Exception {
    log.open.countDown();
    String secret = secret(directory, "secret");
    String other = secret(directory, "other");
    ServerOptions options =
        SmallStore.OPTIONS
            .withListening(
                List.of(new Listening("erda", "127.0.0.1:0", Map.of("secret-file", secret))))
            .withLog(log);
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), options)) {
      String uri = server.uris().get(1);
      assertThrows(ErdaException.Refused.class, () -> ErdaClient.connect(uri));
      assertThrows(
          ErdaException.Refused.class, () -> ErdaClient.connect(uri + "?secret-file=" + other));
      int port;
      try (Socket http = new Socket("127.0.0.1", URI.create(uri).getPort())) {
        port = http.getLocalPort();
        http.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(US_ASCII));
        log.await("(127.0.0.1:" + port + ")");
      }
      ErdaClient.connect(uri + "?secret-file=" + secret).close();
      log.await("DEBUG client 1 left");
      Map<String, Long> figures = server.figures(Duration.ofMinutes(1));
      assertEquals(2, figures.get("tcp.refused.secret"));
      assertEquals(1, figures.get("tcp.refused.garbage"));
      String address = "\\(127\\.0\\.0\\.1:[0-9]+\\)";
      String refused = "WARNING refused a client " + address + ": ";
      assertMatches(refused + "it has no secret, and this server has", 1);
      assertMatches(refused + "it did not prove the secret", 2);
      assertMatches(refused + "what it sent is none of the protocol", 3);
      assertMatches("DEBUG client 1 connected " + address, 4);
    }
  }

  private void assertMatches(String pattern, int line) {
    assertTrue(log.lines.get(line).matches(pattern), () -> pattern + " in " + log.lines);
  }

  private static String secret(Path directory, String name) throws IOException {
    Path file = Files.writeString(directory.resolve(name), "twenty bytes of chance: " + name);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return file.toString();
  }

  private static void fill(ErdaClient client) {
    for (int i = 0; i < 2_000; i++) {
      client.put(("fill" + i).getBytes(java.nio.charset.StandardCharsets.UTF_8), new byte[2_000]);
    }
  }

  @Test
  void whatAPeerProvokesIsLimited() {
    log.open.countDown();
    long[] nowNs = {0};
    ServerLog server = new ServerLog(log, () -> nowNs[0], new Failures());
    for (int i = 0; i < 100; i++) {
      server.refused("process 9 of user eve", "no");
    }
    server.full("LOG", 1, 8);
    server.full("BUCKET", 1, 8);
    server.overQuota("enough", 7, "process 4711 of user eve");
    for (int i = 0; i < 100; i++) {
      server.refused("10.0.0.1:5000", "tcp.refused.garbage", "garbage");
    }
    server.refused("10.0.0.2:5000", "tcp.refused.secret", "it did not prove the secret");
    nowNs[0] += ServerLog.SPAN_NS;
    server.refused("10.0.0.1:6000", "tcp.refused.garbage", "garbage");
    server.refused("process 8 of user bob", "no");
    server.close();
    assertEquals(ServerLog.LINES_MAX + 1, log.count("refused a client (proc"), log.lines::toString);
    assertEquals(ServerLog.LINES_MAX + 1, log.count("refused a client (10.0.0.1:"));
    assertEquals(1, log.count("(10.0.0.2:5000): it did not prove the secret"));
    assertEquals(1, log.count("(10.0.0.1:6000): garbage (and 90 like it before, not logged)"));
    assertEquals(1, log.count("the log is full: refused a request of client 1 for 8 bytes"));
    assertEquals(1, log.count("a bucket of the table is full: refused a request"));
    assertEquals(
        1, log.count("WARNING refused a request of client 7 (process 4711 of user eve): enough"));
    assertEquals(
        "WARNING refused a client (process 8 of user bob): no (and 90 like it before, not logged)",
        log.lines.getLast());
  }

  /** Files that were left behind hid that a stop left no record. */
  @Test
  void workThatWasLeftUndoneIsToldBesideManyFiles() {
    log.open.countDown();
    ServerLog server = new ServerLog(log, System::nanoTime, new Failures());
    for (int i = 0; i < 100; i++) {
      server.leftBehind("spare-" + i);
    }
    server.undone("the record of this stop");
    server.close();
    assertEquals(ServerLog.LINES_MAX, log.count("spare-"));
    assertEquals(1, log.count("the record of this stop"));
  }

  /**
   * The reader of the log has stopped: the server's thread goes on, and the log says later how many
   * lines are missing.
   */
  @Test
  void aLogThatNobodyReadsHoldsUpNobody() {
    ServerLog server = new ServerLog(log, System::nanoTime, new Failures());
    for (int i = 0; i < 3_000; i++) {
      server.cleaned(0, i, true, 0, 0, 1);
    }
    log.open.countDown();
    server.close();
    long said = log.count("cleaned");
    assertTrue(said >= 1_024 && said < 3_000, "said " + said);
    assertEquals(
        "WARNING " + (3_000 - said) + " lines are missing here: nobody read them in time",
        log.lines.getLast());
  }

  /**
   * Missing lines are reported at the place where they are missing, not at the place that the log
   * has reached.
   */
  @Test
  void missingLinesAreToldInTheirPlace() {
    ServerLog server = new ServerLog(log, System::nanoTime, new Failures());
    for (int i = 0; i < 1_100; i++) {
      server.say(System.Logger.Level.INFO, "line " + i);
    }
    log.open.countDown();
    log.await("line 1000");
    server.say(System.Logger.Level.INFO, "behind");
    server.close();
    assertEquals("INFO behind", log.lines.getLast());
    assertTrue(log.lines.get(log.lines.size() - 2).contains("lines are missing here"));
    assertTrue(log.lines.get(log.lines.size() - 3).startsWith("INFO line "));
  }

  /** An application's logger throws now and then. */
  @Test
  void aLoggerThatThrowsLosesItsLineOnly() {
    log.open.countDown();
    log.failing = "line 1";
    ServerLog server = new ServerLog(log, System::nanoTime, new Failures());
    for (int i = 0; i < 3; i++) {
      server.say(System.Logger.Level.INFO, "line " + i);
    }
    server.close();
    assertEquals(List.of("INFO line 0", "INFO line 2"), List.copyOf(log.lines));
  }

  /** A client that connects in time is accepted even if the log is blocked. */
  @Test
  void aServerWhoseLogStandsStillServes(@TempDir Path directory) {
    ServerOptions options = SmallStore.OPTIONS.withLog(log);
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), options)) {
      for (int i = 0; i < 3; i++) {
        try (ErdaClient client = ErdaClient.connect(server.uri())) {
          client.put(new byte[] {1}, new byte[10]);
        }
      }
      assertEquals(0, log.lines.size());
      log.open.countDown();
    }
    assertEquals("INFO ended", log.lines.getLast());
  }
}
