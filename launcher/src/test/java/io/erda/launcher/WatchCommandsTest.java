package io.erda.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.console.LaunchSettings;
import io.erda.server.ErdaServer;
import io.erda.server.ServerOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands by which one watches a server, and what a server's process says. */
class WatchCommandsTest {
  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS
          .withRegionBytes(1 << 20)
          .withSegmentBytes(1 << 18)
          .withCapacityBytes(2 << 20)
          .withBuckets(256);

  @TempDir Path directory;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void pingSaysWhetherAServerIsThere() {
    String uri;
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), SMALL)) {
      uri = server.uri();
      assertEquals(0, run("ping", "--writable", "--uri", uri));
      assertTrue(
          out.toString()
              .matches("answers: version .*, promise process, up \\d+ s \\(connected .*\n"),
          out::toString);
    }
    assertEquals(1, run("ping", "--timeout", "1", "--uri", uri));
    assertTrue(err.toString().contains("no server is there"), err::toString);
    assertEquals(2, run("ping", "--timeout", "0", "--uri", uri));
  }

  @Test
  void topWithoutATerminalIsPlain() {
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), SMALL)) {
      assertEquals(0, run("top", "--count", "2", "--uri", server.uri()));
    }
    String all = out.toString();
    assertEquals(2, all.lines().filter(line -> line.startsWith("erda+shm:")).count(), all);
    assertFalse(all.contains("\u001b"), all);
    assertTrue(Pattern.compile("(?m)^puts +0 +0 B$").matcher(all).find(), all);
  }

  @Test
  void topEndsWithCtrlC() throws Exception {
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), SMALL)) {
      Process top = erda("top", "--uri", server.uri());
      try (BufferedReader lines = reader(top)) {
        assertTrue(lines.readLine().startsWith("erda+shm:"));
        assertEquals(0, new ProcessBuilder("kill", "-INT", "" + top.pid()).start().waitFor());
        assertTrue(top.waitFor(1, TimeUnit.MINUTES));
        assertEquals(0, top.exitValue());
      } finally {
        top.destroyForcibly();
      }
      assertEquals("", Files.readString(directory.resolve("err")));
    }
  }

  /** Standard output is for scripts, and has one line; everything else is on standard error. */
  @Test
  void aServerLogsAndAnswersScrapers() throws Exception {
    Path data = directory.resolve("data");
    Process server =
        erda("server", "--data", data.toString(), "--capacity", "64M", "--metrics", "0", "--jmx");
    try (BufferedReader lines = reader(server)) {
      assertTrue(lines.readLine().startsWith("serving " + data + " at erda+shm:"));
      Matcher url =
          Pattern.compile("Z INFO metrics are at (http://127\\.0\\.0\\.1:\\d+/metrics)\n")
              .matcher(Files.readString(directory.resolve("err")));
      assertTrue(url.find());
      HttpResponse<String> answer =
          HttpClient.newHttpClient()
              .send(
                  HttpRequest.newBuilder(URI.create(url.group(1))).build(),
                  HttpResponse.BodyHandlers.ofString(UTF_8));
      assertTrue(answer.body().contains("\nerda_connections 0\n"), answer::body);
      server.toHandle().destroy(); // leaves its output open
      assertTrue(server.waitFor(1, TimeUnit.MINUTES));
      assertEquals(0, server.exitValue());
      assertEquals(null, lines.readLine());
    } finally {
      server.destroyForcibly();
    }
    List<String> log = Files.readAllLines(directory.resolve("err"));
    String time = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z ";
    assertTrue(log.stream().allMatch(line -> line.matches(time + "[A-Z]+ .*")), log::toString);
    assertTrue(log.stream().anyMatch(line -> line.contains(" INFO serves ")), log::toString);
    assertTrue(log.getLast().endsWith(" INFO ended"), log::toString);
  }

  /** The end of a server marks in this file how far the log is. */
  @Test
  void anOrderlyEndThatFailsIsNoSuccess() throws Exception {
    Path data = directory.resolve("data");
    Process server = erda("server", "--data", data.toString(), "--capacity", "64M");
    try (BufferedReader lines = reader(server)) {
      assertTrue(lines.readLine().startsWith("serving "));
      assertEquals(0, run("put", "--uri", "erda+shm:" + data, "key", "value"));
      try (FileChannel regions =
          FileChannel.open(data.resolve("regions"), StandardOpenOption.WRITE)) {
        regions.truncate(0);
      }
      server.toHandle().destroy();
      assertTrue(server.waitFor(1, TimeUnit.MINUTES));
      assertEquals(1, server.exitValue());
    } finally {
      server.destroyForcibly();
    }
    List<String> said = Files.readAllLines(directory.resolve("err"));
    assertTrue(said.getLast().startsWith("erda: server failed: "), said::toString);
  }

  @Test
  void metricsNeedsAnAddress() {
    String data = directory.resolve("data").toString();
    assertEquals(2, run("server", "--data", data, "--metrics", "nine"));
    assertEquals("erda: --metrics: not HOST:PORT or PORT: nine\n", err.toString());
  }

  @Test
  void whereTheMetricsCanNotBeNothingIsStarted() throws Exception {
    Path data = directory.resolve("data");
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(other.getLocalPort());
      assertEquals(1, run("server", "--data", data.toString(), "--metrics", port));
      assertEquals(
          "erda: can't serve metrics at " + port + ": Address already in use\n", err.toString());
    }
    assertTrue(Files.notExists(data));
  }

  private Process erda(String... arguments) throws IOException {
    List<String> words = new ArrayList<>(LaunchSettings.load().jvmFlags());
    words.addFirst(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.addAll(List.of("-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path")));
    words.add("io.erda.launcher.Main");
    words.addAll(List.of(arguments));
    return new ProcessBuilder(WithSignals.unignored(words))
        .redirectError(directory.resolve("err").toFile())
        .start();
  }

  private static BufferedReader reader(Process process) {
    return new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
  }

  private int run(String... args) {
    return Main.run(new PrintWriter(out), new PrintWriter(err), false, args);
  }
}
