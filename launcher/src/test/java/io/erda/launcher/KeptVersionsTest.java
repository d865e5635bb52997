package io.erda.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Clients and servers of earlier versions beside those of this one, each in a process of its own,
 * over shared memory and TCP: who can't speak with the other is told so, with both versions, when
 * it connects and when the server was replaced, and goes on when a server of its version is there
 * again.
 *
 * <p>{@code src/test/resources/kept-versions} has a file {@code COMMIT.jar.gz} for each: a jar of
 * the classes of pmem, rdma, protocol, hashtable, logstore, cleaner, erda-client and erda-server,
 * of that commit, compiled with {@code -g:none}, without {@code module-info}, with their resources.
 * One is added when a version is released, and before bytes change that two processes share.
 */
class KeptVersionsTest {
  private static final Path KEPT = Path.of("src", "test", "resources", "kept-versions");
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final int TRIES = 60;

  /** Two versions of the same thing: "version 2 of shm/, this server version 3". */
  private static final Pattern BOTH_NUMBERS =
      Pattern.compile("version (\\d+)(?:(?!version).)*(?:version|server) (\\d+)");

  @TempDir Path directory;

  static List<Arguments> pairs() throws IOException {
    List<Arguments> pairs = new ArrayList<>();
    try (DirectoryStream<Path> kept = Files.newDirectoryStream(KEPT, "*.jar.gz")) {
      for (Path each : kept) {
        for (String device : List.of("shm", "tcp")) {
          pairs.add(Arguments.of(each.getFileName().toString(), "old client, new server", device));
          pairs.add(Arguments.of(each.getFileName().toString(), "new client, old server", device));
        }
      }
    }
    assertTrue(pairs.size() >= 4, "no kept version in " + KEPT);
    return pairs;
  }

  @ParameterizedTest(name = "{0}: {1}, {2}")
  @MethodSource("pairs")
  void bothAreToldAndGoOn(String kept, String who, String device) throws IOException {
    Path jar = unpacked(kept);
    boolean oldClient = who.startsWith("old");
    String address = freeAddress();
    Path data = directory.resolve("data");
    String uri = device.equals("shm") ? "erda+shm:" + data : "erda://" + address;
    try (Children children = new Children()) {
      // The client's own version serves first.
      Child own = server(children, oldClient ? jar : null, data, address);
      Child client = client(children, oldClient ? jar : null, uri);
      assertEquals("done", said(client, "put a 1"));
      stop(own);
      Path kept1 = Files.move(data, directory.resolve("aside"));
      // Another one in its place.
      Child other = server(children, oldClient ? null : jar, data, address);
      String atReconnect = saidAtLast(client, "put a 2", "failed Refused");
      Child second = client(children, oldClient ? jar : null, uri);
      String atConnect = said(second, "get a");
      assertTrue(atConnect.startsWith("failed Refused"), atConnect);
      if (!oldClient) {
        assertBothNumbers(atReconnect);
        assertBothNumbers(atConnect);
      } else {
        // What an old client says is decided; what it is told, and what the server logs, is not.
        assertTrue(atConnect.contains("version"), atConnect);
        assertBothNumbers(other.errorTail());
      }
      stop(other);
      // And its own again.
      Files.move(data, directory.resolve("other"));
      Files.move(kept1, data);
      Child again = server(children, oldClient ? jar : null, data, address);
      saidAtLast(client, "get a", "value 1");
      assertEquals("done", said(client, "put a 3"));
      saidAtLast(second, "get a", "value 3");
      stop(again);
    }
  }

  private static void assertBothNumbers(String message) {
    var found = BOTH_NUMBERS.matcher(message);
    assertTrue(found.find() && !found.group(1).equals(found.group(2)), message);
  }

  private Path unpacked(String kept) throws IOException {
    Path jar = directory.resolve(kept.replace(".gz", ""));
    try (InputStream in = new GZIPInputStream(Files.newInputStream(KEPT.resolve(kept)))) {
      Files.copy(in, jar);
    }
    return jar;
  }

  private static String freeAddress() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return "127.0.0.1:" + socket.getLocalPort();
    }
  }

  /**
   * @param first comes before everything else on the class path; null: this version
   */
  private static Child start(Children children, String name, Path first, String... arguments) {
    String classPath = System.getProperty("java.class.path");
    return children.start(
        name,
        Stream.concat(
                Stream.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "--sun-misc-unsafe-memory-access=allow",
                    "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    first == null ? classPath : first + File.pathSeparator + classPath,
                    KeptPeer.class.getName()),
                Stream.of(arguments))
            .toList());
  }

  private static Child server(Children children, Path first, Path data, String address) {
    Child server = start(children, "server", first, "server", data.toString(), address);
    server.await("serves", LONG);
    return server;
  }

  private static Child client(Children children, Path first, String uri) {
    return start(children, "client", first, "client", uri);
  }

  private static void stop(Child server) {
    server.tell("end");
    assertEquals(0, server.awaitEnd(LONG), server::errorTail);
  }

  private static String said(Child client, String line) {
    client.tell(line);
    String said = client.poll(LONG);
    assertTrue(said != null, () -> "no answer to " + line + client.errorTail());
    return said;
  }

  /** Says a line until it is answered so: the first answers may be of the connection that ended. */
  private static String saidAtLast(Child client, String line, String wanted) {
    String said = "";
    for (int i = 0; i < TRIES; i++) {
      said = said(client, line);
      if (said.startsWith(wanted)) {
        return said;
      }
    }
    throw new AssertionError("'" + line + "' is answered '" + said + "' in the end, not " + wanted);
  }
}
