package io.erda.launcher;

import static io.erda.launcher.CommandShell.assertOneLine;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.erda.client.ErdaClient;
import io.erda.launcher.CommandShell.Ended;
import io.erda.server.ErdaServer;
import io.erda.server.ServerOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The commands as processes of their own, in the locale of a cron job: which bytes come in and go
 * out. The shell makes the arguments ({@code printf} with octal digits), because this JVM may have
 * that locale itself.
 */
class CommandBytesTest {
  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS
          .withRegionBytes(1 << 20)
          .withSegmentBytes(1 << 18)
          .withCapacityBytes(4 << 20)
          .withBuckets(256);

  @TempDir Path directory;

  private ErdaServer server;
  private ErdaClient client;

  @BeforeEach
  void serve() {
    server = ErdaServer.start(directory.resolve("data"), SMALL);
    client = ErdaClient.connect(server.uri());
  }

  @AfterEach
  void end() {
    client.close();
    server.close();
  }

  @Test
  void keysAndValuesKeepTheirBytesInTheCLocale() throws Exception {
    assertEquals(0, shell("erda put \"$(printf 'schl\\303\\274ssel')\" one").exitCode());
    assertEquals(0, shell("erda put \"$(printf 'schl\\303\\266ssel')\" two").exitCode());
    assertEquals(0, shell("erda put \"$(printf '\\377')\" \"$(printf '\\376')\"").exitCode());
    assertArrayEquals("one".getBytes(UTF_8), client.get("schlüssel".getBytes(UTF_8)));
    assertArrayEquals("two".getBytes(UTF_8), client.get("schlössel".getBytes(UTF_8)));
    assertArrayEquals(new byte[] {(byte) 0xfe}, client.get(new byte[] {(byte) 0xff}));
    Ended read = shell("erda get \"$(printf '\\377')\"");
    assertArrayEquals(new byte[] {(byte) 0xfe}, read.out());
  }

  @Test
  void digitsAndFilesGiveEveryKey() throws Exception {
    byte[] key = {0, 'a', 0};
    assertEquals(0, shell("erda put --hex 006100 00ff").exitCode());
    assertArrayEquals(new byte[] {0, (byte) 0xff}, client.get(key));
    assertEquals("00ff\n", new String(shell("erda get --hex 006100").out(), UTF_8));
    assertEquals("AP8=\n", new String(shell("erda get --base64 AGEA").out(), UTF_8));
    Path file = Files.write(directory.resolve("key"), key);
    assertArrayEquals(new byte[] {0, (byte) 0xff}, shell("erda get --key-file " + file).out());
    assertEquals(0, shell("erda put --key-file " + file + " text").exitCode());
    assertArrayEquals("text".getBytes(UTF_8), client.get(key));
    assertEquals(0, shell("erda delete --key-file " + file).exitCode());
    assertNull(client.get(key));
    assertOneLine(shell("erda get --hex 0x12"), 2, "is not hexadecimal");
    assertOneLine(shell("erda get --hex --base64 00"), 2, "mutually exclusive");
    assertOneLine(shell("erda get --key-file " + file + " key"), 2, "either KEY or --key-file");
    assertOneLine(shell("erda get"), 2, "either KEY or --key-file");
    assertOneLine(shell("erda put key"), 2, "the value is missing");
  }

  @Test
  void aKeyThatBeginsWithAnAtSignIsAKey() throws Exception {
    Path file = Files.writeString(directory.resolve("words"), "other words\n");
    assertEquals(0, shell("erda put @" + file + " @" + file).exitCode());
    assertArrayEquals(("@" + file).getBytes(UTF_8), client.get(("@" + file).getBytes(UTF_8)));
  }

  @Test
  void whatCantBeWrittenIsAFailure() throws Exception {
    assumeTrue(Files.exists(Path.of("/dev/full")), "no /dev/full here");
    client.put(new byte[] {'k'}, new byte[100]);
    for (String command : List.of("get k", "stats", "stats --json", "classpath", "--help")) {
      assertOneLine(shell("erda " + command + " > /dev/full"), 1, "No space left on device");
    }
  }

  @Test
  void whoseReaderLeftEndsWithoutAWord() throws Exception {
    client.put(new byte[] {'k'}, new byte[1 << 17]);
    Ended ended = shell("{ erda get k; echo $? >&2; } | true");
    assertEquals("141\n", ended.err());
  }

  @Test
  void standardInputIsReadUpToTheLongestValueOnly() throws Exception {
    assertOneLine(shell("yes | erda put key -"), 1, "standard input has more than the");
    assertEquals(0, shell("printf 'a\\0b' | erda put key -").exitCode());
    assertArrayEquals(new byte[] {'a', 0, 'b'}, client.get("key".getBytes(UTF_8)));
  }

  /** Found by a review: {@code put KEY -} stored an empty value, and exited with 0. */
  @Test
  void aClosedStandardInputIsNoEmptyOne() throws Exception {
    Path start = Path.of("src", "main", "sh", "start.sh").toAbsolutePath();
    String closed = "0<&-; . '" + start + "'; erda ";
    assertOneLine(shell("exec " + closed + "put key -"), 1, "is it closed?");
    assertNull(client.get("key".getBytes(UTF_8)));
    assertOneLine(shell("exec " + closed + "import"), 1, "can't read standard input");
    assertOneLine(shell("exec " + closed + "shell"), 1, "Bad file descriptor");
    assertEquals(0, shell("erda put key - < /dev/null").exitCode());
    assertArrayEquals(new byte[0], client.get("key".getBytes(UTF_8)));
  }

  @Test
  void anAbsentKeyHasAnExitCodeOfItsOwn() throws Exception {
    assertOneLine(shell("erda get nobody"), 3, "no such key: nobody");
    assertOneLine(shell("erda delete nobody"), 3, "no such key: nobody");
    assertOneLine(shell("erda get \"$(printf '\\377')\""), 3, "no such key: 0xff");
  }

  /** A JVM's Arabic has digits of its own, and {@code verify} printed them. */
  @Test
  void figuresHaveAsciiDigitsInEveryLocale() throws Exception {
    Path data = directory.resolve("unserved");
    ErdaServer.start(data, SMALL).close();
    Ended ended =
        shell(
            "JAVA_TOOL_OPTIONS='-Duser.language=ar -Duser.country=EG' erda verify --data '"
                + data
                + "'");
    assertEquals(0, ended.exitCode(), ended::err);
    String out = new String(ended.out(), UTF_8);
    assertTrue(out.contains("0 entries: 0 values"), out);
  }

  private Ended shell(String line) throws IOException, InterruptedException {
    return new CommandShell(directory, server.uri()).run(line);
  }
}
