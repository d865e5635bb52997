package io.erda.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Clients and servers of earlier versions beside those of this one, each in a separate process,
 * over shared memory and TCP, and in both roles. A client that can't use the other version gets an
 * error with both versions, when it connects and when the server was replaced, and goes on when
 * there is a server of its version again. A client that can use the other version does so, over one
 * store that both open.
 *
 * <p>{@code src/test/resources/kept-versions} has a file {@code COMMIT.jar.gz} for each: a jar of
 * the classes of pmem, rdma, protocol, hashtable, logstore, cleaner, erda-client and erda-server,
 * of that commit, without what a debugger reads, without {@code module-info}, with their resources.
 *
 * <p>A kept file is never replaced. Another file is needed when a version is released, and when one
 * of the versions of shared bytes has changed ({@link SharedBytesTest}): as soon as the change is
 * committed, so that every later commit is tested with it. {@link #whatIsSharedTodayIsKept} fails
 * until then. The following command makes it in {@code DIR}, an absolute path, and names it after
 * the last commit that changed the code.
 *
 * <pre>
 * mvn verify -pl launcher -am -Dtest=KeptVersionsTest -Dsurefire.failIfNoSpecifiedTests=false -Derda.write.versions=DIR
 * </pre>
 */
@Tag("long")
class KeptVersionsTest {
  private static final Path KEPT = Path.of("src", "test", "resources", "kept-versions");
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final int TRIES = 60;

  /** Lengths of keys, bytes: the hash is computed differently for short and for long ones. */
  private static final List<Integer> LENGTHS = List.of(1, 7, 16, 100, 200, 400);

  private static final String PROTOCOL = "io.erda.protocol.Protocol.VERSION";
  private static final String LAYOUT = "io.erda.protocol.Protocol.LAYOUT_VERSION";

  /** Two versions of the same thing: "version 2 of shm/, this server version 3". */
  private static final Pattern BOTH_NUMBERS =
      Pattern.compile("version (\\d+)(?:(?!version).)*(?:version|server) (\\d+)");

  @TempDir Path directory;

  /** The former names of classes, in jars that are older than the present names. */
  private static final Map<String, String> NAMES_BEFORE =
      Map.of("io.erda.rdma.rings.QueueLayout", "io.erda.rdma.QueueLayout");

  /** The versions that must be equal at both ends, by device. */
  private static final Map<String, List<String>> VERSIONS =
      Map.of(
          "shm",
          List.of("io.erda.rdma.rings.QueueLayout.VERSION", PROTOCOL, LAYOUT),
          "tcp",
          List.of("io.erda.rdma.tcp.Hello.VERSION", PROTOCOL, LAYOUT));

  static List<Path> kept() throws IOException {
    try (Stream<Path> files = Files.list(KEPT)) {
      return files.filter(file -> file.toString().endsWith(".jar.gz")).sorted().toList();
    }
  }

  /** Kept version, who is of it, device: those that have these versions in common, or not. */
  private static List<Arguments> pairs(boolean understand) throws IOException {
    List<Arguments> pairs = new ArrayList<>();
    for (Path each : kept()) {
      for (String device : List.of("shm", "tcp")) {
        if (understands(each, device) == understand) {
          for (String who : List.of("old client, new server", "new client, old server")) {
            pairs.add(Arguments.of(each.getFileName().toString(), who, device));
          }
        }
      }
    }
    return pairs;
  }

  static List<Arguments> pairsThatDiffer() throws IOException {
    return pairs(false);
  }

  static List<Arguments> pairsThatUnderstand() throws IOException {
    return pairs(true);
  }

  private static boolean understands(Path kept, String device) throws IOException {
    Path jar = Files.createTempFile("kept", ".jar");
    try {
      unpack(kept, jar);
      try (URLClassLoader old = new URLClassLoader(new URL[] {jar.toUri().toURL()}, null)) {
        for (String version : VERSIONS.get(device)) {
          if (number(old, version) != number(KeptVersionsTest.class.getClassLoader(), version)) {
            return false;
          }
        }
        return true;
      }
    } finally {
      Files.delete(jar);
    }
  }

  private static int number(ClassLoader of, String constant) {
    int dot = constant.lastIndexOf('.');
    try {
      Field field =
          type(of, constant.substring(0, dot)).getDeclaredField(constant.substring(dot + 1));
      field.setAccessible(true);
      return field.getInt(null);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  private static Class<?> type(ClassLoader of, String name) throws ClassNotFoundException {
    try {
      return Class.forName(name, false, of);
    } catch (ClassNotFoundException e) {
      if (NAMES_BEFORE.containsKey(name)) {
        return Class.forName(NAMES_BEFORE.get(name), false, of);
      }
      throw e;
    }
  }

  /**
   * A jar to keep can be made whenever one is needed: that is tried here, and what it has is what a
   * kept one has.
   */
  @Test
  void whatIsSharedTodayIsKept() throws Exception {
    Path jar = directory.resolve("made.jar");
    VersionToKeep.pack(jar);
    String toKeepIn = System.getProperty("erda.write.versions");
    if (toKeepIn != null) {
      Path into = Path.of(toKeepIn).resolve(StoresToKeep.commit().substring(0, 8) + ".jar.gz");
      try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(into))) {
        Files.copy(jar, out);
      }
    }
    String address = freeAddress();
    Path data = directory.resolve("data");
    try (Children children = new Children()) {
      Child server = server(children, jar, data, address);
      Child client = client(children, jar, "erda://" + address);
      assertEquals("done", said(client, "put a 1"));
      assertEquals("value 1", said(client, "get a"));
      stop(server);
    }
    assertTrue(
        understandsBoth(),
        "no kept version speaks with this one over each device: keep one of today (the Javadoc of"
            + " this test says how it is made)");
    assertFalse(pairsThatDiffer().isEmpty(), "no kept version is another one");
  }

  private static boolean understandsBoth() throws IOException {
    for (String device : VERSIONS.keySet()) {
      boolean any = false;
      for (Path each : kept()) {
        any |= understands(each, device);
      }
      if (!any) {
        return false;
      }
    }
    return true;
  }

  /** Both versions open a store in turn: each finds the other's values. */
  @ParameterizedTest(name = "{0}: {1}, {2}")
  @MethodSource("pairsThatUnderstand")
  void bothUnderstandEachOther(String kept, String who, String device) throws IOException {
    Path jar = unpacked(kept);
    Path ofClient = who.startsWith("old") ? jar : null;
    Path ofOther = who.startsWith("old") ? null : jar;
    String address = freeAddress();
    Path data = directory.resolve("data");
    String uri = device.equals("shm") ? "erda+shm:" + data : "erda://" + address;
    try (Children children = new Children()) {
      Child own = server(children, ofClient, data, address);
      Child client = client(children, ofClient, uri);
      assertEquals("done", said(client, "put a 1"));
      stop(own);
      Child other = server(children, ofOther, data, address);
      saidAtLast(client, "get a", "value 1");
      assertEquals("done", said(client, "put a 2"));
      Child second = client(children, ofOther, uri);
      assertEquals("value 2", said(second, "get a"));
      assertEquals("done", said(second, "put b 3"));
      assertEquals("value 3", said(client, "get b"));
      exchange(client, second, "c");
      exchange(second, client, "d");
      String keys = 2 + 2 * LENGTHS.size() + "";
      assertEquals(List.of(keys, keys), List.of(said(client, "keys"), said(second, "keys")));
      stop(other);
      Child again = server(children, ofClient, data, address);
      saidAtLast(client, "get b", "value 3");
      saidAtLast(second, "get a", "value 2");
      assertEquals("done", said(second, "put a 4"));
      assertEquals("value 4", said(client, "get a"));
      for (int length : LENGTHS) {
        assertEquals("value " + value(length), said(client, "get " + "d".repeat(length)));
        assertEquals("value " + value(length), said(second, "get " + "c".repeat(length)));
      }
      exchange(client, second, "d");
      exchange(second, client, "c");
      assertEquals(List.of(keys, keys), List.of(said(client, "keys"), said(second, "keys")));
      stop(again);
    }
  }

  /** Keys of all lengths, with values that are longer, are put by one and found by the other. */
  private static void exchange(Child one, Child other, String letter) {
    for (int length : LENGTHS) {
      String key = letter.repeat(length);
      assertEquals("done", said(one, "put " + key + " old"));
      assertEquals("done", said(other, "set " + key + " old new"));
      assertEquals("value new", said(one, "get " + key));
      assertEquals("done", said(other, "delete " + key));
      assertEquals("absent", said(one, "get " + key));
      assertEquals("done", said(one, "put " + key + " " + value(length)));
      assertEquals("value " + value(length), said(other, "get " + key));
    }
  }

  private static String value(int length) {
    return "0123456789".repeat(length * 20);
  }

  @ParameterizedTest(name = "{0}: {1}, {2}")
  @MethodSource("pairsThatDiffer")
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
        // The text of an old client can't be changed any more, but the server's answer and log can.
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
    unpack(KEPT.resolve(kept), jar);
    return jar;
  }

  private static void unpack(Path kept, Path jar) throws IOException {
    try (InputStream in = new GZIPInputStream(Files.newInputStream(kept))) {
      Files.copy(in, jar, StandardCopyOption.REPLACE_EXISTING);
    }
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
