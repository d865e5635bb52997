package io.erda.eval.memcached;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.erda.eval.process.ProcessException;
import io.erda.eval.sockets.ScriptedServer;
import java.lang.foreign.MemorySegment;
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
@Timeout(60)
class MemcachedClientTest {
  private final MemorySegment key = MemorySegment.ofArray("greeting".getBytes(ISO_8859_1));
  private final MemorySegment value = MemorySegment.ofArray("END\r\n".getBytes(ISO_8859_1));
  private final byte[] got = new byte[10];
  private final MemorySegment into = MemorySegment.ofArray(got);

  @TempDir Path directory;

  private interface Talk {
    void with(MemcachedClient client);
  }

  private String talk(Talk talk, String... answers) throws Exception {
    Path socket = directory.resolve("s");
    try (ScriptedServer server = ScriptedServer.listen(socket, answers)) {
      try (MemcachedClient client = MemcachedClient.connect(socket, 8, 10, 2)) {
        talk.with(client);
      }
      return server.sent();
    }
  }

  @Test
  void getAndSetOfAValueThatLooksLikeALine() throws Exception {
    String sent =
        talk(
            client -> {
              client.set(key, value);
              assertEquals(5, client.get(key, into));
              assertEquals(-1, client.get(key, into));
            },
            "STO|RED\r\n",
            "VALUE greeting 0 5\r\nEND|\r\n\r|\nEND\r\n",
            "END\r|\n");
    String get = "get greeting\r\n";
    assertEquals("set greeting 0 0 5\r\nEND\r\n\r\n" + get + get, sent);
    assertEquals("END\r\n", new String(got, 0, 5, ISO_8859_1));
  }

  @Test
  void severalSetsGoOutTogether() throws Exception {
    String sent =
        talk(
            client -> {
              client.addSet(key, value);
              client.addSet(key, value);
              assertEquals(2, client.addedSets());
              client.awaitSets();
              assertEquals(0, client.addedSets());
            },
            "STORED\r\nSTO|RED\r\n");
    assertEquals("set greeting 0 0 5\r\nEND\r\n\r\n".repeat(2), sent);
  }

  @Test
  void aSetThatIsNotStoredIsReported() throws Exception {
    talk(
        client -> {
          ProcessException e = assertThrows(ProcessException.class, () -> client.set(key, value));
          assertEquals("memcached answered: SERVER_ERROR out of memory", e.getMessage());
        },
        "SERVER_ERROR out of memory\r\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "VALUE greeting 0 5",
        "VALUE greeting 0 5\r\nhel",
        "VALUE greeting 0 5\r\nhello\r\n",
        "VALUE greeting 0 5\r\nhello\r\nEND"
      })
  void anAnswerThatIsCutOffIsReported(String answer) throws Exception {
    assertGetFails("memcached closed the connection", answer);
  }

  @ParameterizedTest
  @MethodSource
  void garbageIsReported(String message, String answer) throws Exception {
    assertGetFails(message, answer);
  }

  static List<Arguments> garbageIsReported() {
    return List.of(
        Arguments.of("memcached answered: ERROR", "ERROR\r\n"),
        Arguments.of("memcached answered: VALUE", "VALUE\r\n"),
        Arguments.of("memcached answered: VALUE greeting 0 -5", "VALUE greeting 0 -5\r\n"),
        Arguments.of(
            "memcached answered: VALUE greeting 0 5??hello??EN",
            "VALUE greeting 0 5\r\nhello\r\nEN\r\n"),
        Arguments.of(
            "memcached has a value of 11 bytes, longer than 10",
            "VALUE greeting 0 11\r\nhello world\r\n"),
        Arguments.of(
            "memcached sent a value that is not 5 bytes long",
            "VALUE greeting 0 5\r\nhello world\r\nEND\r\n"));
  }

  private void assertGetFails(String message, String answer) throws Exception {
    talk(
        client -> {
          ProcessException e = assertThrows(ProcessException.class, () -> client.get(key, into));
          assertEquals(message, e.getMessage());
        },
        answer);
  }
}
