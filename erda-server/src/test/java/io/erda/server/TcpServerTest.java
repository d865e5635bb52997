package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import io.erda.protocol.ErdaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server that is reached over TCP, beside shared memory. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class TcpServerTest {
  private static final Listening ANY_PORT = Listening.tcp("127.0.0.1:0");

  @TempDir private Path directory;

  private ErdaServer start(Listening listening) {
    ServerOptions options =
        ServerOptions.DEFAULTS
            .withCapacityBytes(64 << 20)
            .withRegionBytes(4 << 20)
            .withBuckets(1 << 12)
            .withListening(List.of(listening));
    return ErdaServer.start(directory.resolve("data"), options);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void whatIsPutOverTcpIsThereOverSharedMemoryAndTheOtherWayRound() {
    try (ErdaServer server = start(ANY_PORT);
        ErdaClient tcp = ErdaClient.connect(server.uris().get(1));
        ErdaClient shm = ErdaClient.connect(server.uri())) {
      Random random = new Random(7);
      for (int i = 0; i < 300; i++) {
        byte[] key = bytes("key " + i);
        byte[] value = new byte[random.nextInt(10) == 0 ? 100_000 : random.nextInt(2000)];
        random.nextBytes(value);
        ErdaClient writer = i % 2 == 0 ? tcp : shm;
        ErdaClient reader = i % 2 == 0 ? shm : tcp;
        writer.put(key, value);
        assertArrayEquals(value, reader.get(key));
        assertArrayEquals(value, writer.get(key));
        if (i % 5 == 0) {
          assertTrue(writer.delete(key));
          assertNull(reader.get(key));
        }
      }
      assertNull(tcp.get(bytes("never put")));
      Map<String, Long> figures = tcp.stats();
      assertEquals(0, figures.get("tcp.refused.accesses"), "what is leased is granted");
      assertEquals(0, figures.get("tcp.refused.garbage"));
      assertTrue(figures.get("clients.reads") > 0);
      assertEquals(2, figures.get("connections"));
    }
  }

  @Test
  void manyClientsAtOnce() throws Exception {
    int clients = 24;
    try (ErdaServer server = start(ANY_PORT)) {
      List<CompletableFuture<Void>> all = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        int number = i;
        all.add(
            CompletableFuture.runAsync(
                () -> work(server.uris().get(1), number),
                task -> Thread.ofPlatform().daemon().start(task)));
      }
      for (CompletableFuture<Void> each : all) {
        each.get(100, TimeUnit.SECONDS);
      }
    }
  }

  private static void work(String uri, int number) {
    try (ErdaClient client = ErdaClient.connect(uri)) {
      for (int round = 0; round < 50; round++) {
        byte[] key = bytes("client " + number + " key " + round % 10);
        byte[] value = bytes("client " + number + " round " + round);
        client.put(key, value);
        assertArrayEquals(value, client.get(key));
      }
    }
  }

  @Test
  void aServerThatIsStartedAnewIsFoundAgain() {
    ErdaServer first = start(ANY_PORT);
    String uri = first.uris().get(1);
    try (ErdaClient client = ErdaClient.connect(uri)) {
      client.put(bytes("a"), bytes("1"));
      first.close();
      assertThrows(ErdaException.class, () -> client.get(bytes("a")));
      try (ErdaServer second = start(Listening.tcp(uri.substring("erda://".length())))) {
        assertArrayEquals(bytes("1"), client.get(bytes("a")));
        client.put(bytes("a"), bytes("2"));
        assertArrayEquals(bytes("2"), client.get(bytes("a")));
        assertEquals(2, second.uris().size());
      }
    }
  }

  @Test
  void aSecretIsAskedFor() throws Exception {
    Path secret = Files.writeString(directory.resolve("secret"), "twenty bytes of chance\n");
    Path other = Files.writeString(directory.resolve("other"), "twenty bytes of another chance\n");
    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
    Files.setPosixFilePermissions(other, PosixFilePermissions.fromString("rw-------"));
    Listening listening =
        new Listening("erda", "127.0.0.1:0", Map.of("secret-file", secret.toString()));
    try (ErdaServer server = start(listening)) {
      String uri = server.uris().get(1);
      for (String wrong : new String[] {uri, uri + "?secret-file=" + other}) {
        ErdaException.Refused e =
            assertThrows(ErdaException.Refused.class, () -> ErdaClient.connect(wrong));
        assertTrue(e.getMessage().contains("secret"), e.getMessage());
      }
      try (ErdaClient client = ErdaClient.connect(uri + "?secret-file=" + secret)) {
        client.put(bytes("a"), bytes("1"));
        assertArrayEquals(bytes("1"), client.get(bytes("a")));
      }
    }
  }

  @Test
  void whatIsWrongWithAnAddressIsSaid() {
    for (String wrong : new String[] {"nonsense", "127.0.0.1:x", "0.0.0.0:0", "host.invalid:1"}) {
      ErdaException e =
          assertThrows(ErdaException.class, () -> start(Listening.tcp(wrong)).close(), wrong);
      assertTrue(e.getMessage().contains("can't listen at " + wrong), e.getMessage());
    }
    start(ANY_PORT).close();
  }

  @Test
  void aPortThatIsTakenIsSaidOnce() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      String address = "127.0.0.1:" + taken.getLocalPort();
      ErdaException e =
          assertThrows(ErdaException.class, () -> start(Listening.tcp(address)).close());
      assertEquals("can't listen at " + address + ": Address already in use", e.getMessage());
    }
  }

  @Test
  void aHostThatNobodyKnowsIsNamed() {
    ErdaException e =
        assertThrows(
            ErdaException.Unavailable.class, () -> ErdaClient.connect("erda://host.invalid:7411"));
    assertTrue(
        e.getMessage().endsWith("no server is there: no host is known by the name host.invalid"),
        e.getMessage());
  }

  /**
   * Found by a review: a server that had no room for more that were connecting ended connections,
   * and their clients were told at once that no server is there.
   */
  @Test
  void aConnectionThatIsEndedWithoutAnAnswerIsTriedAgain() throws Exception {
    AtomicInteger taken = new AtomicInteger();
    try (ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Thread accepting =
          Thread.ofPlatform()
              .daemon()
              .start(() -> {
                try {
                  while (true) {
                    listening.accept().close();
                    taken.incrementAndGet();
                  }
                } catch (IOException e) {
                  // The test is over.
                }
              });
      ClientOptions options = ClientOptions.DEFAULT.withConnectTimeout(Duration.ofMillis(300));
      ErdaUri uri = ErdaUri.parse("erda://127.0.0.1:" + listening.getLocalPort());
      ErdaException.Unavailable e =
          assertThrows(
              ErdaException.Unavailable.class, () -> ErdaClient.connect(uri, options).close());
      assertTrue(e.getMessage().contains("ended it without an answer"), e.getMessage());
      assertTrue(taken.get() > 2, () -> taken + " attempts");
      assertTrue(accepting.isAlive());
    }
  }
}
