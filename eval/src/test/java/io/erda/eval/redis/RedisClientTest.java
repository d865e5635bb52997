package io.erda.eval.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
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
          RedisException e =
              assertThrows(
                  RedisException.class, () -> client.get(key, MemorySegment.ofArray(new byte[10])));
          assertEquals("Redis answered: -ERR no", e.getMessage());
        },
        "-ERR no\r\n");
  }

  @Test
  void severalGetsGoOutTogetherAndTheirAnswersComeInPieces() throws Exception {
    try (ServerSocketChannel server = ServerSocketChannel.open()) {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      CompletableFuture<String> sent =
          CompletableFuture.supplyAsync(
              () -> answer(server, "$5\r\nhel|lo\r|\n$3\r\nyou\r\n", "$5\r\nhello\r\n$-1\r\n"));
      InetSocketAddress address = (InetSocketAddress) server.getLocalAddress();
      try (RedisClient client = RedisClient.connect(address, 16, 10, 2)) {
        byte[] into = new byte[10];
        MemorySegment[] keys = {key, key, key};
        assertEquals(8, client.getAll(keys, 1, 2, MemorySegment.ofArray(into)));
        assertEquals("helloyou", new String(into, 0, 8, ISO_8859_1));
        RedisException e =
            assertThrows(
                RedisException.class, () -> client.getAll(keys, 0, 2, MemorySegment.ofArray(into)));
        assertEquals("Redis has no value for key 1", e.getMessage());
      }
      String get = "*2\r\n$3\r\nGET\r\n$16\r\n0123456789abcdef\r\n";
      assertEquals(get.repeat(4), sent.get());
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
          RedisException e = assertThrows(RedisException.class, () -> client.get(key, into));
          assertEquals(message, e.getMessage());
        },
        answer);
  }

  @Test
  void aSetThatIsNotAcknowledgedIsReported() throws Exception {
    talk(
        client -> {
          RedisException e =
              assertThrows(
                  RedisException.class, () -> client.set(key, MemorySegment.ofArray(value)));
          assertEquals("Redis answered: :1", e.getMessage());
        },
        ":1\r\n");
  }

  @Test
  void aSetWhoseAnswerIsCutOffIsReported() throws Exception {
    talk(
        client -> {
          RedisException e =
              assertThrows(
                  RedisException.class, () -> client.set(key, MemorySegment.ofArray(value)));
          assertEquals("Redis closed the connection", e.getMessage());
        },
        "+OK\r");
  }

  private interface Talk {
    void with(RedisClient client) throws Exception;
  }

  /**
   * Answers each request with the next answer, in the pieces that {@code |} makes. @return all that
   * was sent
   */
  private String talk(Talk talk, String... answers) throws Exception {
    Path socket = directory.resolve("s");
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(socket));
      CompletableFuture<String> sent = CompletableFuture.supplyAsync(() -> answer(server, answers));
      try (RedisClient client = RedisClient.connect(socket, 16, 10)) {
        talk.with(client);
      }
      return sent.get();
    }
  }

  private static String answer(ServerSocketChannel server, String... answers) {
    try (SocketChannel channel = server.accept()) {
      StringBuilder sent = new StringBuilder();
      ByteBuffer buffer = ByteBuffer.allocate(1024);
      for (String answer : answers) {
        channel.read(buffer.clear());
        sent.append(new String(buffer.array(), 0, buffer.position(), ISO_8859_1));
        for (String piece : answer.split("\\|")) {
          channel.write(ByteBuffer.wrap(piece.getBytes(ISO_8859_1)));
          Thread.sleep(20);
        }
      }
      return sent.toString();
    } catch (java.io.IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
