package io.erda.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.erda.client.ErdaClient;
import io.erda.server.ErdaServer;
import io.erda.server.ServerOptions;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the output and the exit codes of the commands, with a server in this process. */
class CommandsTest {
  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS
          .withRegionBytes(1 << 20)
          .withSegmentBytes(1 << 18)
          .withCapacityBytes(2 << 20)
          .withBuckets(256);

  @TempDir Path directory;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private Path data;

  @BeforeEach
  void nameData() {
    data = directory.resolve("data");
  }

  @Test
  void putGetDelete() {
    try (ErdaServer server = ErdaServer.start(data, SMALL);
        ErdaClient other = ErdaClient.connect(server.uri())) {
      assertEquals(0, run("put", "--uri", server.uri(), "greeting", "hello"));
      assertArrayEquals("hello".getBytes(UTF_8), other.get("greeting".getBytes(UTF_8)));
      assertEquals(0, run("get", "--uri", server.uri(), "greeting"));
      assertEquals("hello", bytes.toString(UTF_8));
      assertEquals(0, run("get", "-n", "--uri", server.uri(), "greeting"));
      assertEquals("hellohello\n", bytes.toString(UTF_8));
      assertEquals(0, run("delete", "--uri", server.uri(), "greeting"));
      assertNull(other.get("greeting".getBytes(UTF_8)));
      assertFails(3, "no such key: greeting", "get", "--uri", server.uri(), "greeting");
      assertFails(3, "no such key: greeting", "delete", "--uri", server.uri(), "greeting");
    }
  }

  @Test
  void severalKeysInOneCall() {
    try (ErdaServer server = ErdaServer.start(data, SMALL);
        ErdaClient other = ErdaClient.connect(server.uri())) {
      other.put("a".getBytes(UTF_8), "1".getBytes(UTF_8));
      other.put("b".getBytes(UTF_8), new byte[0]);
      assertEquals(0, run("get", "--uri", server.uri(), "b", "a"));
      assertEquals("\n1\n", bytes.toString(UTF_8));
      bytes.reset();
      assertFails(3, "no such keys: x, y", "get", "-0", "--uri", server.uri(), "a", "x", "b", "y");
      assertEquals("1\0\0", bytes.toString(UTF_8));
      bytes.reset();
      assertEquals(0, run("exists", "--uri", server.uri(), "a", "b"));
      assertFails(3, "no such key: x", "exists", "--uri", server.uri(), "a", "x");
      assertFails(3, "no such key: x", "delete", "--uri", server.uri(), "x", "a");
      assertFails(3, "no such key: a", "exists", "--uri", server.uri(), "b", "a");
      assertFails(2, "give either KEY or --key-file", "exists", "--uri", server.uri());
      assertEquals("", bytes.toString(UTF_8));
    }
  }

  @Test
  void aStoreThatNobodyServesIsReadByItsFiles() {
    String uri;
    try (ErdaServer server = ErdaServer.start(data, SMALL)) {
      uri = server.uri() + "?read-only";
      assertEquals(0, run("put", "--uri", server.uri(), "greeting", "hello"));
    }
    String served = uri.substring(0, uri.indexOf('?'));
    assertFails(1, "can be read, with ?read-only behind", "get", "--uri", served, "greeting");
    assertEquals(0, run("get", "-n", "--uri", uri, "greeting"));
    assertEquals("hello\n", bytes.toString(UTF_8));
    bytes.reset();
    assertFails(3, "no such key: none", "get", "--uri", uri, "none");
    assertEquals(0, run("keys", "--uri", uri));
    assertEquals("greeting\n", bytes.toString(UTF_8));
    assertFails(1, "only reads", "put", "--uri", uri, "greeting", "x");
    assertFails(1, "only reads", "delete", "--uri", uri, "greeting");
    assertFails(1, "no server to ask", "stats", "--uri", uri);
    assertFails(1, "no server to ask", "clean", "--uri", uri);
  }

  @Test
  void keysArePrintedAsTheyAreOrAsDigits() {
    try (ErdaServer server = ErdaServer.start(data, SMALL);
        ErdaClient other = ErdaClient.connect(server.uri())) {
      assertEquals(0, run("keys", "--uri", server.uri()));
      assertEquals("", bytes.toString(UTF_8));
      other.put("greeting".getBytes(UTF_8), new byte[1]);
      assertEquals(0, run("keys", "--uri", server.uri()));
      assertEquals("greeting\n", bytes.toString(UTF_8));
      other.delete("greeting".getBytes(UTF_8));
      other.put(new byte[] {0, (byte) 0xff, '\n'}, new byte[1]);
      assertEquals(0, run("keys", "--hex", "--uri", server.uri()));
      assertEquals("greeting\n00ff0a\n", bytes.toString(UTF_8));
      bytes.reset();
      assertEquals(0, run("keys", "-0", "--uri", server.uri()));
      assertArrayEquals(new byte[] {0, (byte) 0xff, '\n', 0}, bytes.toByteArray());
    }
  }

  @Test
  void aValueFromStandardInputKeepsItsBytes() {
    byte[] value = {0, 1, (byte) 0xff, '\n', 0};
    try (ErdaServer server = ErdaServer.start(data, SMALL)) {
      InputStream standardIn = System.in;
      try {
        System.setIn(new ByteArrayInputStream(value));
        assertEquals(0, run("put", "--uri", server.uri(), "binary", "-"));
      } finally {
        System.setIn(standardIn);
      }
      assertEquals(0, run("get", "--uri", server.uri(), "binary"));
      assertArrayEquals(value, bytes.toByteArray());
    }
  }

  @Test
  void statsAsTableAndAsJson() {
    try (ErdaServer server = ErdaServer.start(data, SMALL)) {
      assertEquals(0, run("stats", "--uri", server.uri()));
      assertTrue(out.toString().contains("table.entries"), out::toString);
      out.getBuffer().setLength(0);
      assertEquals(0, run("stats", "--json", "--uri", server.uri()));
      assertTrue(
          out.toString().startsWith("{\"") && out.toString().contains("\"table.entries\":0"),
          out::toString);
    }
  }

  @Test
  void cleaningAHeadThatIsNotThere() {
    try (ErdaServer server = ErdaServer.start(data, SMALL)) {
      assertFails(
          2,
          "cleaning: no such head: 99, the store has heads 0 to 0",
          "clean",
          "--head",
          "99",
          "--uri",
          server.uri());
      assertFails(2, "--head must be 0 to 255: -3", "clean", "--head=-3", "--uri", server.uri());
    }
  }

  @Test
  void statsNameWhatCleaningDoesAndWhoIsWaitedFor() {
    ServerOptions many = SMALL.withRegionBytes(1 << 18).withSegmentBytes(1 << 14);
    try (ErdaServer server = ErdaServer.start(data, many);
        ErdaClient idle = ErdaClient.connect(server.uri());
        ErdaClient client = ErdaClient.connect(server.uri())) {
      for (int i = 0; i < 1000; i++) {
        client.put(new byte[] {(byte) (i % 50)}, new byte[10_000]);
      }
      String table = statsWith("generation", server, client, idle);
      assertTrue(table.matches("(?s).*\ncleaner.phase +[a-z]+\n.*"), table);
      assertTrue(table.matches("(?s).*\nhead 0, region [0-9]+ +[0-9.]+%.*"), table);
      assertTrue(
          table.matches(
              "(?s).*\nhead 0, region [0-9]+, generation [0-9]+ +[0-9]+ +"
                  + ProcessHandle.current().pid()
                  + "\n.*"),
          table);
      assertTrue(!table.contains("live.permille") && !table.contains("leaving.0"), table);
      String json = statsWith("leaving.0", server, client, idle, "--json");
      String pid = "[0-9.]+\\.client\\.[0-9]+\\.pid\":" + ProcessHandle.current().pid();
      assertTrue(json.matches("(?s).*\"leaving\\.0\\." + pid + ".*"), json);
    }
  }

  /**
   * A client is waited for only as long as no more than two regions wait, for at most two seconds,
   * and only if it was sent a map with the region. So it gets before each of a few cleanings.
   */
  private String statsWith(
      String text, ErdaServer server, ErdaClient client, ErdaClient idle, String... options) {
    for (int round = 0; round < 300; round++) {
      idle.get(new byte[] {1});
      for (int i = 0; i < 60; i++) {
        client.put(new byte[] {(byte) (i % 50)}, new byte[10_000]);
      }
      out.getBuffer().setLength(0);
      List<String> arguments = new ArrayList<>(List.of("stats", "--uri", server.uri()));
      arguments.addAll(List.of(options));
      assertEquals(0, run(arguments.toArray(String[]::new)));
      if (out.toString().contains(text)) {
        return out.toString();
      }
    }
    throw new AssertionError(text + " never shows: " + out);
  }

  @Test
  void whatIsWrongIsOneLine() throws Exception {
    assertFails(1, "no server", "get", "--uri", "erda+shm:" + data, "key");
    assertFails(2, "URI", "get", "--uri", "http://host/", "key");
    assertFails(2, "--uri", "get", "key");
    assertFails(2, "no size", "server", "--data", data.toString(), "--capacity", "7x");
    assertFails(
        2, "goes with --rdma", "server", "--data", data.toString(), "--rdma-device", "rxe0");
    assertFails(2, "power of two", "server", "--data", data.toString(), "--region-bytes", "100000");
    assertFails(
        2, "--heads must be at least 1", "server", "--data", data.toString(), "--heads", "0");
    assertFails(
        2,
        "--connections must be at least 1",
        "server",
        "--data",
        data.toString(),
        "--connections",
        "0");
    assertFails(2, "did you mean get?", "gett");
    assertFails(2, "behind --", "get", "--uri", "erda+shm:" + data, "-x");
    assertFails(2, "names no file", "server", "--data", "");
    assertFails(2, "heads must be 1 to 256", "server", "--data", data.toString(), "--heads", "257");
    assertFails(
        2,
        "--region-bytes",
        "server",
        "--data",
        data.toString(),
        "--capacity",
        "100M",
        "--region-bytes",
        "1G");
    assertFails(2, "--head must be 0 to 255", "clean", "--uri", "erda+shm:" + data, "--head", "-3");
    assertFails(2, "from 2", "server", "--data", data.toString(), "--buckets", "1");
    assertFails(2, "no size", "server", "--data", data.toString(), "--capacity", "1.3K");
    String nowhere = data.resolve("nowhere/x.json").toString();
    assertFails(1, "no such file", "simulate", "--runs", "1", "--json", nowhere);
    assertFails(1, "no such file", "eval", "run", "idle", "--json", nowhere);
    assertFails(2, "is a directory", "simulate", "--runs", "1", "--json", directory.toString());
    assertFails(1, "no such directory", "verify", "--data", data.toString());
    assertFails(1, "no store", "verify", "--data", directory.toString());
    Files.createDirectories(data);
    Files.writeString(data.resolve("letter.txt"), "dear");
    assertFails(1, "letter.txt", "server", "--data", data.toString());
    assertFails(2, "no experiment 'flor'", "eval", "run", "flor");
    assertFails(2, "--out DIR is missing", "eval", "all");
    assertFails(1, "no run has left anything", "eval", "page", "--out", nowhere);
    Path file = Files.writeString(directory.resolve("file"), "kept");
    assertFails(2, "--out is no directory", "eval", "all", "--out", file.toString());
    assertEquals("kept", Files.readString(file));
    assertFails(2, "but was 'verbs'", "quickstart", "--device", "verbs");
    assertFails(2, "but was 'verbs'", "torture", "--device", "verbs");
    assertFails(2, "--value-bytes must be at most", "quickstart", "--value-bytes", "100M");
    // Before the work, not after it.
    assertFails(
        1, "no such file", "quickstart", "--json", data.resolve("nowhere/x.json").toString());
  }

  @Test
  void whatAServerCannotBeIsRefused() {
    assertServerFails("it is process or power", "--promise", "atomic");
    assertServerFails("it is process or power", "--promise", "forever");
    assertServerFails("--group goes with --mode", "--group", "users");
    assertServerFails("must be at most 32: 33", "--operations-per-client", "33");
    assertServerFails("must be at most 65536: 99999999", "--connections", "99999999");
    assertFalse(Files.exists(data), "nothing was opened");
  }

  private void assertServerFails(String part, String option, String value) {
    assertFails(2, part, "server", "--data", data.toString(), option, value);
  }

  /** The owner of the store could not open the files that the superuser would make. */
  @Test
  void theSuperuserServesNoStoreOfAnotherUser() throws Exception {
    Files.createDirectories(data);
    assumeTrue(Files.getAttribute(data, "unix:uid").equals(0), "only the superuser has others");
    Files.setAttribute(data, "unix:uid", 65_534);
    String owner = Files.getOwner(data).getName();
    assertFails(1, "sudo -u " + owner + " ./erda server", "server", "--data", data.toString());
    try (Stream<Path> files = Files.list(data)) {
      assertEquals(0, files.count(), "something was made");
    }
  }

  @Test
  void limitsOfTheStore() {
    try (ErdaServer server = ErdaServer.start(data, SMALL)) {
      assertFails(1, "in use", "verify", "--data", data.toString());
      assertFails(1, "in use", "server", "--data", data.toString());
      assertFails(1, "key", "put", "--uri", server.uri(), "k".repeat(10_000), "v");
      assertFails(1, "value", "put", "--uri", server.uri(), "k", "v".repeat(1 << 19));
      String value = "v".repeat(100_000);
      for (int i = 0; i < 40 && run("put", "--uri", server.uri(), "key" + i, value) == 0; i++) {}
      assertOneLine("full");
    }
  }

  @Test
  void verifyNamesADamagedKey() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SMALL)) {
      run("put", "--uri", server.uri(), "sound", "x".repeat(300));
      run("put", "--uri", server.uri(), "broken", "y".repeat(300));
    }
    assertEquals(0, run("verify", "--data", data.toString()));
    assertTrue(out.toString().contains("2 values"), out::toString);
    flip(data, "yyyy");
    out.getBuffer().setLength(0);
    assertEquals(1, run("verify", "--data", data.toString()));
    assertTrue(out.toString().contains("damaged: key 'broken'"), out::toString);
    assertTrue(!out.toString().contains("'sound'"), out::toString);
    assertOneLine("1 finding");
    try (ErdaServer server = ErdaServer.start(data, SMALL)) {
      assertEquals(0, run("get", "--uri", server.uri(), "sound"));
      assertEquals(1, run("get", "--uri", server.uri(), "broken"));
      assertOneLine("damaged");
    }
  }

  @Test
  void ycsbIsCheckedBeforeItRuns() throws Exception {
    Path workload =
        Files.writeString(
            directory.resolve("workload"),
            "workload=site.ycsb.workloads.CoreWorkload\nrecordcount=10\n");
    String file = workload.toString();
    assertFails(1, "no such file", "ycsb", "run", "-P", file + "x");
    assertFails(2, "property workload", "ycsb", "load");
    assertFails(2, "no such class: a.B", "ycsb", "load", "-P", file, "-p", "workload=a.B");
    assertFails(2, "no such class: a.B", "ycsb", "load", "-P", file, "-db", "a.B");
    assertFails(2, "erda.uri", "ycsb", "load", "-P", file);
    assertFails(2, "operationcount", "ycsb", "run", "-P", file);
    assertFails(1, "no server", "ycsb", "load", "-P", file, "-p", "erda.uri=erda+shm:" + data);
    assertFails(
        2, "recordcount is negative: -5", "ycsb", "load", "-P", file, "-p", "recordcount=-5");
    assertFails(
        2, "fieldcount is not a number: x", "ycsb", "load", "-P", file, "-p", "fieldcount=x");
    for (String batch : List.of("0", "-1", "many", "65")) {
      assertFails(
          2,
          "batchsize must be a number from 1 to 64: " + batch,
          "ycsb",
          "load",
          "-P",
          file,
          "-p",
          "erda.uri=erda+shm:" + data,
          "-p",
          "batchsize=" + batch);
    }
    assertFails(2, "-target", "ycsb", "load", "-P", file, "-target", "-3");
    assertFails(2, "-P is a directory", "ycsb", "load", "-P", directory.toString());
    assertFails(2, "-threads", "ycsb", "load", "-P", file, "-threads", "0");
  }

  /** Flips a bit of the first place in the store's regions that holds {@code text}. */
  private static void flip(Path data, String text) throws Exception {
    try (Stream<Path> files = Files.list(data)) {
      for (Path file :
          files.filter(path -> path.getFileName().toString().startsWith("region-")).toList()) {
        String content =
            new String(Files.readAllBytes(file), java.nio.charset.StandardCharsets.ISO_8859_1);
        int at = content.indexOf(text);
        if (at >= 0) {
          try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(
                java.nio.ByteBuffer.wrap(new byte[] {(byte) (content.charAt(at) ^ 4)}), at);
          }
          return;
        }
      }
    }
    throw new AssertionError("not found: " + text);
  }

  private void assertFails(int exitCode, String part, String... args) {
    assertEquals(exitCode, run(args), err::toString);
    assertOneLine(part);
  }

  private void assertOneLine(String part) {
    String text = err.toString();
    assertEquals(1, text.lines().count(), text);
    assertTrue(text.startsWith("erda: ") && text.contains(part), text);
    err.getBuffer().setLength(0);
  }

  private int run(String... args) {
    PrintStream standardOut = System.out;
    System.setOut(new PrintStream(bytes, true, UTF_8));
    try {
      return Main.run(new PrintWriter(out), new PrintWriter(err), false, args);
    } finally {
      System.setOut(standardOut);
    }
  }
}
