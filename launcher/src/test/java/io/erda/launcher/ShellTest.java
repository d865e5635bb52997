package io.erda.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.server.ErdaServer;
import io.erda.server.ServerOptions;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many commands in one process. */
class ShellTest {
  @TempDir Path directory;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final PrintStream standardOut = System.out;
  private ErdaServer server;

  @BeforeEach
  void serve() {
    server =
        ErdaServer.start(
            directory.resolve("data"),
            ServerOptions.DEFAULTS
                .withRegionBytes(1 << 20)
                .withSegmentBytes(1 << 18)
                .withCapacityBytes(2 << 20)
                .withBuckets(256));
    System.setOut(new PrintStream(bytes, true, UTF_8));
  }

  @AfterEach
  void stop() {
    System.setOut(standardOut);
    server.close();
  }

  private Shell shell() {
    return new Shell(server.uri(), new PrintWriter(out, true), new PrintWriter(err, true));
  }

  private int run(String lines) throws IOException {
    return shell().run(new ByteArrayInputStream(lines.getBytes(UTF_8)));
  }

  @Test
  void linesAreCommandsOfTheNamedStore() throws IOException {
    assertEquals(
        0,
        run(
            "put greeting 'hello  world'\n"
                + "# nothing\n\n"
                + "put empty \"\"\n"
                + "get greeting\n"
                + "get -0 greeting\n"));
    assertEquals("hello  world\nhello  world\0", bytes.toString(UTF_8));
    assertEquals("", err.toString());
    try (ErdaClient client = ErdaClient.connect(server.uri())) {
      assertArrayEquals(new byte[0], client.get("empty".getBytes(UTF_8)));
    }
  }

  @Test
  void aFailureIsTheExitCodeAndDoesNotEndIt() throws IOException {
    assertEquals(3, run("get none\nnonsense\nput a 1\nget -n a\n"));
    assertEquals("1\n", bytes.toString(UTF_8));
    assertTrue(err.toString().contains("no such key: none"), err.toString());
    assertTrue(err.toString().contains("no such command: 'nonsense'"), err.toString());
  }

  @Test
  void helpIsThatOfACommandOrOfAll() throws IOException {
    assertEquals(0, run("help get\n"));
    assertTrue(out.toString().startsWith("Usage: erda get "), out.toString());
    assertEquals(0, run("help\n"));
    assertTrue(out.toString().contains("Usage: erda ["), out.toString());
  }

  @Test
  void exitEndsIt() throws IOException {
    assertEquals(0, run("put a 1\nexit\nput a 2\n"));
    try (ErdaClient client = ErdaClient.connect(server.uri())) {
      assertArrayEquals("1".getBytes(UTF_8), client.get("a".getBytes(UTF_8)));
    }
  }

  @Test
  void whatIsNoLineSaysSo() throws IOException {
    assertEquals(2, run("put a 'b\nshell\n"));
    assertTrue(err.toString().contains("a quote has no other half: put a 'b"), err.toString());
    assertTrue(err.toString().contains("this is a shell already"), err.toString());
  }

  @Test
  void whatMeasuresAndWhatServesIsNotForAShell() throws IOException {
    for (String each :
        List.of(
            "server --data x",
            "quickstart",
            "ycsb load",
            "eval run floor",
            "simulate",
            "torture",
            "classpath")) {
      assertEquals(2, run(each + "\n"), each);
      String command = each.split(" ")[0];
      assertTrue(
          err.toString()
              .contains("erda: it needs a JVM of its own, not a shell's: ./erda " + command),
          err.toString());
    }
  }

  /** Tab offered them. */
  @Test
  void whatIsNotForAShellIsNotCompleted() throws IOException {
    ByteArrayOutputStream shown = new ByteArrayOutputStream();
    ByteArrayInputStream typed = new ByteArrayInputStream("simu\t\rserv\t\rexit\r".getBytes(UTF_8));
    try (Terminal terminal =
        TerminalBuilder.builder().system(false).streams(typed, shown).type("ansi").build()) {
      assertEquals(0, Terminals.interact(shell(), terminal, null));
    }
    assertTrue(err.toString().contains("no such command: 'simu'"), err + "\n" + shown);
    assertTrue(err.toString().contains("no such command: 'serv'"), err + "\n" + shown);
  }

  /** The lines that follow would be the value. */
  @Test
  void aCommandDoesNotReadTheLinesBehindIt() throws IOException {
    assertEquals(1, run("put a -\nput b 2\nimport\nget -n b\n"));
    assertEquals("2\n", bytes.toString(UTF_8));
    assertEquals(
        2,
        err.toString()
            .lines()
            .filter(line -> line.contains("standard input is where the lines of this shell"))
            .count(),
        err.toString());
    assertEquals(3, run("get a\n"));
  }

  @Test
  void valuesAreQuotedAsInOtherShells() throws IOException {
    assertEquals(
        0,
        run(
            "put windows 'C:\\dir\\new'\n"
                + "put json '{\"a\":\"x\\ny\"}'\n"
                + "get windows json\n"));
    assertEquals("C:\\dir\\new\n{\"a\":\"x\\ny\"}\n", bytes.toString(UTF_8));
  }

  /** It gives the terminal back, and the next line is run. */
  @Test
  void anInterruptEndsTheCommandAndNotTheShell() throws Exception {
    ByteArrayInputStream typed =
        new ByteArrayInputStream("top --every 1000\rput behind 1\rexit\r".getBytes(UTF_8));
    try (Terminal terminal =
        TerminalBuilder.builder()
            .system(false)
            .streams(typed, new ByteArrayOutputStream())
            .type("ansi")
            .build()) {
      Thread user =
          Thread.startVirtualThread(() -> {
            while (out.toString().isEmpty()) {
              Thread.onSpinWait();
            }
            terminal.raise(Terminal.Signal.INT);
          });
      assertEquals(0, Terminals.interact(shell(), terminal, null));
      user.join();
    }
    try (ErdaClient client = ErdaClient.connect(server.uri())) {
      assertArrayEquals("1".getBytes(UTF_8), client.get("behind".getBytes(UTF_8)));
    }
  }

  @Test
  void bytesThatAreNoTextStayTheSame() throws IOException {
    byte[] line = "put k v\n".getBytes(UTF_8);
    line[6] = (byte) 0xff;
    assertEquals(0, shell().run(new ByteArrayInputStream(line)));
    try (ErdaClient client = ErdaClient.connect(server.uri())) {
      assertArrayEquals(new byte[] {(byte) 0xff}, client.get("k".getBytes(UTF_8)));
    }
  }

  @Test
  void whatIsTypedIsCompletedAndRemembered() throws IOException {
    Path history = directory.resolve("history");
    ByteArrayOutputStream shown = new ByteArrayOutputStream();
    ByteArrayInputStream typed =
        new ByteArrayInputStream("exi\tgreeting\rpu\tgreeting hello\rexit\r".getBytes(UTF_8));
    try (Terminal terminal =
        TerminalBuilder.builder().system(false).streams(typed, shown).type("ansi").build()) {
      assertEquals(0, Terminals.interact(shell(), terminal, history));
    }
    assertTrue(err.toString().contains("no such key: greeting"), err + "\n" + shown);
    try (ErdaClient client = ErdaClient.connect(server.uri())) {
      assertArrayEquals("hello".getBytes(UTF_8), client.get("greeting".getBytes(UTF_8)));
    }
    String remembered = Files.readString(history);
    assertTrue(remembered.contains("put greeting hello"), remembered);
    assertFalse(remembered.contains("pu\t"), remembered);
  }
}
