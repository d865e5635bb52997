package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Server and client in two network namespaces, with a pair of virtual interfaces between them that
 * can be slow, lose packets, and be cut. Needs root and {@code ip}.
 */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("long")
final class NetworkNamespaceTest {
  private static final String SERVER_HOST = "10.231.77.1";
  private static final String CLIENT_HOST = "10.231.77.2";

  /** For a machine that others use, too. */
  private static final Duration SLACK = Duration.ofSeconds(2);

  private static final int KEYS_THAT_TAKE_LONG = 1_000_000;

  @TempDir private Path directory;
  private final String id = Long.toString(ProcessHandle.current().pid());
  private final String serverSpace = "erda-s-" + id;
  private final String clientSpace = "erda-c-" + id;
  private final List<Process> children = new ArrayList<>();
  private Process client;
  private BufferedReader said;

  @BeforeEach
  void connect() throws Exception {
    assumeTrue(run("ip", "netns", "add", serverSpace), "no network namespaces without root and ip");
    assumeTrue(run("ip", "netns", "add", clientSpace), "no second network namespace");
    String here = "es" + id;
    String there = "ec" + id;
    assumeTrue(
        run("ip", "link", "add", here, "type", "veth", "peer", "name", there),
        "this kernel has no virtual interfaces");
    require("ip", "link", "set", here, "netns", serverSpace);
    require("ip", "link", "set", there, "netns", clientSpace);
    require("ip", "-n", serverSpace, "link", "set", here, "name", "erda");
    require("ip", "-n", clientSpace, "link", "set", there, "name", "erda");
    require("ip", "-n", serverSpace, "addr", "add", SERVER_HOST + "/24", "dev", "erda");
    require("ip", "-n", clientSpace, "addr", "add", CLIENT_HOST + "/24", "dev", "erda");
    require("ip", "-n", serverSpace, "link", "set", "erda", "up");
    require("ip", "-n", clientSpace, "link", "set", "erda", "up");
    Path secret = Files.writeString(directory.resolve("secret"), "twenty bytes of chance\n");
    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
    Process server =
        start(
            serverSpace,
            NamespaceServer.class,
            directory.resolve("data").toString(),
            SERVER_HOST + ":7411",
            secret.toString());
    assertTrue(reader(server).readLine().startsWith("serving at erda://"));
    client =
        start(
            clientSpace,
            NamespaceClient.class,
            "erda://" + SERVER_HOST + ":7411?secret-file=" + secret);
    said = reader(client);
    assertEquals("connected", said.readLine());
  }

  /** Also behind a {@link #connect} that failed in its middle. */
  @AfterEach
  void end() throws Exception {
    for (Process child : children) {
      child.destroyForcibly();
    }
    for (Process child : children) {
      child.waitFor(20, TimeUnit.SECONDS);
    }
    // An interface goes with its namespace, if it came there, and takes its peer along.
    run("ip", "link", "delete", "es" + id);
    run("ip", "netns", "delete", clientSpace);
    run("ip", "netns", "delete", serverSpace);
  }

  private Process start(String space, Class<?> main, String... arguments) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                "ip",
                "netns",
                "exec",
                space,
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    children.add(process);
    return process;
  }

  private static BufferedReader reader(Process process) {
    return new BufferedReader(
        new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII));
  }

  private static void require(String... command) throws Exception {
    assertTrue(run(command), String.join(" ", command));
  }

  private static boolean run(String... command) throws InterruptedException {
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return process.waitFor(20, TimeUnit.SECONDS) && process.exitValue() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  private void order(String line) {
    try {
      client.getOutputStream().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
      client.getOutputStream().flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String answer() {
    try {
      return said.readLine();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String work(int keys) {
    order(Integer.toString(keys));
    return answer();
  }

  private static void link(String space, String state) throws Exception {
    require("ip", "-n", space, "link", "set", "erda", state);
  }

  /**
   * Requires that an operation ended within its time-out, with an error that describes the
   * situation.
   */
  private static void requireUnreachable(String answer, Duration timeout) {
    String[] words = answer.split(" ", 3);
    assertTrue(Set.of("Unavailable", "OutcomeUnknown").contains(words[0]), answer);
    assertTrue(Long.parseLong(words[1]) <= timeout.plus(SLACK).toMillis(), answer);
    assertEquals(
        words[0].equals("OutcomeUnknown"), words[2].contains("nobody could be asked"), answer);
  }

  /**
   * The first operations may still meet the old connection, or packets that are sent again late.
   */
  private void requireBack() {
    String outcome = work(50);
    for (int i = 0; i < 20 && !outcome.equals("done"); i++) {
      requireUnreachable(outcome, NamespaceClient.OPERATION_TIMEOUT);
      outcome = work(50);
    }
    assertEquals("done", outcome);
  }

  /**
   * @param whose end of the link goes down: the client's host has no way to the server then, or has
   *     one on which everything is lost
   */
  @ParameterizedTest
  @ValueSource(strings = {"client", "server"})
  void acrossHostsAndAcrossACut(String whose) throws Exception {
    String space = whose.equals("client") ? clientSpace : serverSpace;
    assertEquals("done", work(200));
    link(space, "down");
    requireUnreachable(work(5), NamespaceClient.OPERATION_TIMEOUT);
    requireUnreachable(work(5), NamespaceClient.OPERATION_TIMEOUT);
    order("connect");
    requireUnreachable(answer(), NamespaceClient.CONNECT_TIMEOUT);
    link(space, "up");
    requireBack();
    order("connect");
    assertEquals("done", answer());
  }

  @Test
  void aCutInTheMiddleOfOperations() throws Exception {
    assertEquals("done", work(20));
    order(Integer.toString(KEYS_THAT_TAKE_LONG));
    Thread.sleep(300);
    link(serverSpace, "down");
    requireUnreachable(answer(), NamespaceClient.OPERATION_TIMEOUT);
    link(serverSpace, "up");
    requireBack();
  }

  @Test
  void withDelayAndLoss() throws Exception {
    assumeTrue(
        run(
            "tc",
            "-n",
            clientSpace,
            "qdisc",
            "add",
            "dev",
            "erda",
            "root",
            "netem",
            "delay",
            "5ms",
            "1ms",
            "loss",
            "2%"),
        "this kernel has no netem");
    assertEquals("done", work(40));
    link(serverSpace, "down");
    requireUnreachable(work(5), NamespaceClient.OPERATION_TIMEOUT);
    link(serverSpace, "up");
    requireBack();
  }
}
