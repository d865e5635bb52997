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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Server and client in two network namespaces, with a pair of virtual interfaces between them that
 * can be slow, lose packets, and be cut. Needs root and {@code ip}.
 */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class NetworkNamespaceTest {
  private static final String SERVER_HOST = "10.231.77.1";
  private static final String CLIENT_HOST = "10.231.77.2";

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

  @AfterEach
  void end() throws Exception {
    for (Process child : children) {
      child.destroyForcibly().waitFor();
    }
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

  private String work(int keys) {
    try {
      client.getOutputStream().write((keys + "\n").getBytes(StandardCharsets.US_ASCII));
      client.getOutputStream().flush();
      return said.readLine();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void acrossHostsAndAcrossACut() throws Exception {
    assertEquals("done", work(200));
    require("ip", "-n", clientSpace, "link", "set", "erda", "down");
    assertEquals("unavailable", work(5), "in the time that an operation has");
    require("ip", "-n", clientSpace, "link", "set", "erda", "up");
    // The first ones may still meet the old connection, or packets that are sent again late.
    String outcome = work(50);
    for (int i = 0; i < 20 && outcome.equals("unavailable"); i++) {
      outcome = work(50);
    }
    assertEquals("done", outcome);
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
            "2ms",
            "1ms",
            "loss",
            "2%"),
        "this kernel has no netem");
    assertEquals("done", work(40));
  }
}
