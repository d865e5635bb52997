package io.erda.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import io.erda.eval.process.ServerChild;
import io.erda.protocol.ErdaException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests puts whose server is stopped or dies, with separate processes and real signals. A put whose
 * client gave up, or is gone, never takes effect later.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("long")
class StoppedServerTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final int ROUNDS = 4;
  private static final List<String> SMALL =
      List.of("--region-bytes", "16M", "--capacity", "256M", "--buckets", "4096");

  @TempDir Path directory;
  private Children children;
  private ServerChild server;

  @BeforeEach
  void start() {
    children = new Children();
    server = ServerChild.start(children, Jvm.current(), data(), SMALL);
  }

  @AfterEach
  void end() {
    children.close();
  }

  private Path data() {
    return directory.resolve("data");
  }

  private ErdaClient hasty() {
    return ErdaClient.connect(
        ErdaUri.parse(server.uri()),
        ClientOptions.DEFAULT.withOperationTimeout(Duration.ofSeconds(2)));
  }

  @Test
  void aPutThatTimedOutNeverComesBack() throws Exception {
    try (ErdaClient other = ErdaClient.connect(server.uri())) {
      for (int round = 0; round < ROUNDS; round++) {
        byte[] key = ("key " + round).getBytes(UTF_8);
        put(other, key, "old");
        ErdaException told;
        try (ErdaClient client = hasty()) {
          takeLease(client, key);
          put(other, key, "old");
          stop();
          told = assertThrows(ErdaException.class, () -> put(client, key, "late"));
        }
        assertEquals("old", get(other, key), "the server is stopped");
        signal("CONT", server.pid());
        requireStill(other, key, "old", told);
        put(other, key, "new");
        requireStill(other, key, "new", told);
        assertEquals("Unavailable", told.getClass().getSimpleName(), told.getMessage());
      }
    }
  }

  @Test
  void aPutThatTimedOutIsTakenBackBeforeItsClientIsTold() throws Exception {
    try (ErdaClient other = ErdaClient.connect(server.uri());
        ErdaClient client = hasty()) {
      byte[] key = "key".getBytes(UTF_8);
      takeLease(client, key);
      put(other, key, "old");
      stop();
      ErdaException told = assertThrows(ErdaException.class, () -> put(client, key, "late"));
      signal("CONT", server.pid());
      requireStill(other, key, "old", told);
      put(client, key, "again");
      assertEquals("again", get(other, key), "the next call connects anew");
    }
  }

  @Test
  void aPutOfAClientThatWasKilledNeverComesBack() throws Exception {
    try (ErdaClient other = ErdaClient.connect(server.uri())) {
      byte[] key = "key".getBytes(UTF_8);
      for (int round = 0; round < ROUNDS; round++) {
        Child client =
            children.start("a client", Jvm.current().command(Putter.class, server.uri()));
        client.await("connected", LONG);
        put(other, key, "old");
        stop();
        client.tell("put");
        client.await("putting", LONG);
        LockSupport.parkNanos(100_000_000);
        client.kill();
        assertEquals("old", get(other, key));
        signal("CONT", server.pid());
        requireStill(other, key, "old", null);
      }
    }
  }

  /** A client that puts on request. */
  static final class Putter {
    public static void main(String[] arguments) throws Exception {
      try (ErdaClient client = ErdaClient.connect(arguments[0])) {
        takeLease(client, "key".getBytes(UTF_8));
        System.out.println("connected");
        System.in.read();
        System.out.println("putting");
        put(client, "key".getBytes(UTF_8), "late");
      }
    }
  }

  @Test
  void theFirstPutAfterTheServerDiedIsDefinite() throws Exception {
    byte[] key = "key".getBytes(UTF_8);
    for (int round = 0; round < ROUNDS; round++) {
      try (ErdaClient client = ErdaClient.connect(server.uri())) {
        takeLease(client, key);
        put(client, key, "before");
        server.kill();
        ErdaException told = assertThrows(ErdaException.class, () -> put(client, key, "while"));
        assertEquals("Unavailable", told.getClass().getSimpleName(), told.getMessage());
        assertEquals("before", get(client, key));
        server = ServerChild.start(children, Jvm.current(), data(), List.of());
        assertEquals("before", get(client, key));
        put(client, key, "after");
        assertEquals("after", get(client, key));
      }
    }
  }

  @Test
  void theFirstPutAfterTheServerWasReplacedWorks() throws Exception {
    byte[] key = "key".getBytes(UTF_8);
    for (int round = 0; round < ROUNDS; round++) {
      try (ErdaClient client = ErdaClient.connect(server.uri())) {
        takeLease(client, key);
        put(client, key, "before");
        server.kill();
        server = ServerChild.start(children, Jvm.current(), data(), List.of());
        put(client, key, "after");
        assertEquals("after", get(client, key));
      }
    }
  }

  @Test
  void aStoreThatWasDeletedIsNotReadForEver() throws Exception {
    byte[] key = "key".getBytes(UTF_8);
    try (ErdaClient client = ErdaClient.connect(server.uri())) {
      put(client, key, "before");
      server.kill();
      assertEquals("before", get(client, key));
      Files.move(data(), directory.resolve("elsewhere"));
      ErdaException told = getUntilTold(client, key);
      assertEquals("Unavailable", told.getClass().getSimpleName(), told.getMessage());
    }
  }

  @Test
  void aStoreThatWasReplacedIsNotReadForEver() throws Exception {
    byte[] key = "key".getBytes(UTF_8);
    try (ErdaClient client = ErdaClient.connect(server.uri())) {
      put(client, key, "before");
      server.kill();
      Files.move(data(), directory.resolve("elsewhere"));
      server = ServerChild.start(children, Jvm.current(), data(), SMALL);
      ErdaException told = getUntilTold(client, key);
      assertEquals("Refused", told.getClass().getSimpleName(), told.getMessage());
    }
  }

  private static ErdaException getUntilTold(ErdaClient client, byte[] key) {
    while (true) {
      try {
        assertEquals("before", get(client, key));
        LockSupport.parkNanos(1_000_000);
      } catch (ErdaException e) {
        return e;
      }
    }
  }

  /** The server does all that it may have to do; the value stays. */
  private static void requireStill(ErdaClient by, byte[] key, String value, ErdaException told) {
    for (int i = 0; i < 20; i++) {
      put(by, "another key".getBytes(UTF_8), "a step of the server");
      assertEquals(value, get(by, key), () -> "after the client was told: " + told);
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** So that the next put of the key asks for nothing before it is published. */
  private static void takeLease(ErdaClient client, byte[] key) {
    for (int i = 0; i < 10; i++) {
      put(client, key, "earlier " + i);
    }
  }

  /** Stops the server; all of its threads stand still when this returns. */
  private void stop() throws Exception {
    signal("STOP", server.pid());
    Path tasks = Path.of("/proc/" + server.pid() + "/task");
    boolean stopped = false;
    while (!stopped) {
      stopped = true;
      try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
        for (Path thread : threads) {
          String stat = Files.readString(thread.resolve("stat"));
          stopped &= stat.charAt(stat.lastIndexOf(')') + 2) == 'T';
        }
      }
    }
  }

  private static void put(ErdaClient client, byte[] key, String value) {
    client.put(key, value.getBytes(UTF_8));
  }

  private static String get(ErdaClient client, byte[] key) {
    return new String(client.get(key), UTF_8);
  }

  private static void signal(String name, long pid) throws Exception {
    new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start().waitFor();
  }
}
