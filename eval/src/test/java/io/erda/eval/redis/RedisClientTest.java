package io.erda.eval.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.eval.process.ProcessException;
import io.erda.eval.sockets.ScriptedServer;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The bytes that the client sends, and what it makes of answers that come in pieces; against a
 * scripted peer.
 */
@Timeout(20)
class RedisClientTest {
  private final MemorySegment key = MemorySegment.ofArray("0123456789abcdef".getBytes(ISO_8859_1));
  private final byte[] value = "hello".getBytes(ISO_8859_1);

  @TempDir Path directory;

  @Test
  void getAndSet() throws Exception {
    byte[] into = new byte[10];
    String sent =
        talk(
            client -> {
              assertEquals(5, client.get(key, MemorySegment.ofArray(into)));
              client.set(key, MemorySegment.ofArray(value));
              assertEquals(-1, client.get(key, MemorySegment.ofArray(into)));
            },
            "$5\r\nhel|lo\r\n",
            "+OK\r|\n",
            "$-1\r\n");
    String keyPart = "$16\r\n0123456789abcdef\r\n";
    String get = "*2\r\n$3\r\nGET\r\n" + keyPart;
    assertEquals(get + "*3\r\n$3\r\nSET\r\n" + keyPart + "$5\r\nhello\r\n" + get, sent);
    assertEquals("hello", new String(into, 0, 5, ISO_8859_1));
  }

  @Test
  void anErrorIsReported() throws Exception {
    talk(
        client -> {
          ProcessException e =
              assertThrows(
                  ProcessException.class,
                  () -> client.get(key, MemorySegment.ofArray(new byte[10])));
          assertEquals("Redis answered: -ERR no", e.getMessage());
        },
        "-ERR no\r\n");
  }

  @Test
  void severalGetsGoOutTogetherAndTheirAnswersComeInPieces() throws Exception {
    try (ScriptedServer server =
        ScriptedServer.listen(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            "$5\r\nhel|lo\r|\n$3\r\nyou\r\n",
            "$5\r\nhello\r\n$-1\r\n")) {
      InetSocketAddress address = (InetSocketAddress) server.address();
      try (RedisClient client = RedisClient.connect(address, 16, 10, 2)) {
        byte[] into = new byte[10];
        MemorySegment[] keys = {key, key, key};
        assertEquals(8, client.getAll(keys, 1, 2, MemorySegment.ofArray(into)));
        assertEquals("helloyou", new String(into, 0, 8, ISO_8859_1));
        ProcessException e =
            assertThrows(
                ProcessException.class,
                () -> client.getAll(keys, 0, 2, MemorySegment.ofArray(into)));
        assertEquals("Redis has no value for key 1", e.getMessage());
      }
      String get = "*2\r\n$3\r\nGET\r\n$16\r\n0123456789abcdef\r\n";
      assertEquals(get.repeat(4), server.sent());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "$",
        "$5",
        "$5\r",
        "$5\r\n",
        "$5\r\nhel",
        "$5\r\nhello",
        "$5\r\nhello\r",
        "-ERR",
        "no line"
      })
  void anAnswerThatIsCutOffIsReported(String answer) throws Exception {
    assertGetFails("Redis closed the connection", answer);
  }

  @ParameterizedTest
  @MethodSource
  void garbageIsReported(String message, String answer) throws Exception {
    assertGetFails(message, answer);
  }

  static List<Arguments> garbageIsReported() {
    return List.of(
        Arguments.of("Redis answered: hello", "hello\r\n"),
        Arguments.of("Redis answered: ", "\r\n"),
        Arguments.of("Redis answered: +OK", "+OK\r\n"),
        Arguments.of("Redis answered: $", "$\r\n"),
        Arguments.of("Redis answered: $five", "$five\r\n"),
        Arguments.of("Redis answered: $-2", "$-2\r\n"),
        Arguments.of("Redis answered: $5 ", "$5 \r\nhello\r\n"),
        Arguments.of("Redis answered: $4294967301", "$4294967301\r\nhello\r\n"),
        Arguments.of("Redis answered: $5", "$5\rhello\r\n"),
        Arguments.of("Redis answered: ??ab?", "\u0001\nab\u00e9\r\n"),
        Arguments.of("Redis has a value of 11 bytes, longer than 10", "$11\r\nhello world\r\n"),
        Arguments.of("Redis sent a value that is not 5 bytes long", "$5\r\nhello world\r\n"),
        Arguments.of("Redis's answer is longer than 74 bytes", "x".repeat(100)));
  }

  private void assertGetFails(String message, String answer) throws Exception {
    MemorySegment into = MemorySegment.ofArray(new byte[10]);
    talk(
        client -> {
          ProcessException e = assertThrows(ProcessException.class, () -> client.get(key, into));
          assertEquals(message, e.getMessage());
        },
        answer);
  }

  @Test
  void severalSetsGoOutTogether() throws Exception {
    String sent =
        talk(
            client -> {
              client.addSet(key, MemorySegment.ofArray(value));
              client.addSet(key, MemorySegment.ofArray(new byte[] {'x'}));
              assertEquals(2, client.addedSets());
              client.awaitSets();
              assertEquals(0, client.addedSets());
            },
            "+OK\r|\n+OK\r\n");
    String set = "*3\r\n$3\r\nSET\r\n$16\r\n0123456789abcdef\r\n";
    assertEquals(set + "$5\r\nhello\r\n" + set + "$1\r\nx\r\n", sent);
  }

  @Test
  void whatTheServerKeepsIsAsked() throws Exception {
    talk(
        client -> {
          assertFalse(client.isReady());
          assertTrue(client.isReady());
          assertTrue(client.appendsToFile());
          assertFalse(client.appendsToFile());
        },
        "-LOADING Redis is loading the dataset in memory\r\n",
        "+PONG\r\n",
        "*2\r\n$10\r\nappendonly\r\n|$3\r\nyes\r\n",
        "*2\r\n$10\r\nappendonly\r\n$2\r\nno\r\n");
  }

  @Test
  void aSetThatIsNotAcknowledgedIsReported() throws Exception {
    talk(
        client -> {
          ProcessException e =
              assertThrows(
                  ProcessException.class, () -> client.set(key, MemorySegment.ofArray(value)));
          assertEquals("Redis answered: :1", e.getMessage());
        },
        ":1\r\n");
  }

  @Test
  void aSetWhoseAnswerIsCutOffIsReported() throws Exception {
    talk(
        client -> {
          ProcessException e =
              assertThrows(
                  ProcessException.class, () -> client.set(key, MemorySegment.ofArray(value)));
          assertEquals("Redis closed the connection", e.getMessage());
        },
        "+OK\r");
  }

  private interface Talk {
    void with(RedisClient client) throws Exception;
  }

  /** Answers each request with the next answer. @return all that was sent */
  private String talk(Talk talk, String... answers) throws Exception {
    Path socket = directory.resolve("s");
    try (ScriptedServer server = ScriptedServer.listen(socket, answers)) {
      try (RedisClient client = RedisClient.connect(socket, 16, 10)) {
        talk.with(client);
      }
      return server.sent();
    }
  }
}
