package io.erda.rdma.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.Backing;
import io.erda.rdma.Access;
import io.erda.rdma.ConnectionRequest;
import io.erda.rdma.DeviceFixture;
import io.erda.rdma.Listener;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Recorder;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Peers that break the protocol, or never mean to keep it, hurt their own connection alone. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class TcpHostilePeerTest {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);
  private static final TcpOptions PLAIN = TcpOptions.of(System::nanoTime, new SecureRandom());
  private static final Secret SECRET =
      new Secret("sixteen bytes at least".getBytes(StandardCharsets.US_ASCII));

  private TcpFixture fixture;
  private Listener listener;

  /** The refusals that the device has reported. */
  private final List<String> refused = new CopyOnWriteArrayList<>();

  private void open(TcpOptions server, TcpOptions client) throws IOException {
    fixture = new TcpFixture(server, client);
    listener =
        fixture
            .server()
            .listen(
                fixture.address(),
                (peer, figure, why) -> {
                  assertTrue(peer.startsWith("127.0.0.1:"), peer);
                  refused.add(figure + ": " + why);
                },
                error -> {});
  }

  @AfterEach
  void close() {
    if (fixture != null) {
      fixture.close();
    }
  }

  private MemoryRegion region(int access) {
    DeviceFixture.ServerMemory memory = fixture.serverMemory(4096);
    return fixture.server().register(memory.segment(), memory.backing(), access);
  }

  private long figure(String name) {
    return fixture.server().figures().get(name).getAsLong();
  }

  /** Asserts that a client that means well connects and reads. */
  private void assertServes() {
    MemoryRegion readable = region(Access.REMOTE_READ);
    MemorySegment memory = fixture.clientMemory(4096);
    MemoryRegion local =
        fixture.client().register(memory, Backing.none(memory.byteSize()), Access.LOCAL);
    Recorder seen = new Recorder();
    QueuePair client = fixture.client().connect(fixture.address(), NOTHING, Duration.ofSeconds(20));
    QueuePair[] there = new QueuePair[1];
    until(() -> {
      client.poll(seen, 8);
      ConnectionRequest request = listener.poll();
      if (request != null) {
        there[0] = request.accept(NOTHING);
      }
      return seen.has(Opcode.CONNECT);
    });
    assertEquals(Status.SUCCESS, seen.first(Opcode.CONNECT).status());
    client.post(Work.read().id(1).local(local, 0, 64).remote(readable.remoteKey(), 0).signaled());
    until(() -> {
      client.poll(seen, 8);
      return seen.has(Opcode.READ);
    });
    assertEquals(Status.SUCCESS, seen.first(Opcode.READ).status());
    client.close();
    there[0].close();
  }

  /**
   * Many peers that connect at once took all memory of the JVM before the server was asked about
   * them. Then the thread of the device waited for the garbage collector, and all peers with it.
   */
  @Test
  void theServerIsAskedAboutFewPeersAtOnce() throws IOException {
    open(PLAIN, PLAIN);
    List<QueuePair> clients = new ArrayList<>();
    Recorder seen = new Recorder();
    for (int i = 0; i < 30; i++) {
      clients.add(fixture.client().connect(fixture.address(), NOTHING, Duration.ofSeconds(20)));
    }
    List<QueuePair> accepted = new ArrayList<>();
    while (accepted.size() < 30) {
      List<ConnectionRequest> asked = new ArrayList<>();
      until(() -> {
        clients.forEach(each -> each.poll(seen, 8));
        ConnectionRequest request = listener.poll();
        return request != null && asked.add(request);
      });
      // The others have had time to come, too.
      long endNs = System.nanoTime() + 20_000_000;
      until(() -> {
        clients.forEach(each -> each.poll(seen, 8));
        ConnectionRequest request = listener.poll();
        return request != null && !asked.add(request) || System.nanoTime() - endNs > 0;
      });
      assertTrue(asked.size() <= 4, "asked about " + asked.size() + " at once");
      asked.forEach(each -> accepted.add(each.accept(NOTHING)));
    }
    until(() -> {
      clients.forEach(each -> each.poll(seen, 8));
      return seen.of(Opcode.CONNECT).size() == 30;
    });
    clients.forEach(QueuePair::close);
    accepted.forEach(QueuePair::close);
    assertServes();
  }

  private static void until(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      Thread.yield();
    }
  }

  @Test
  void otherProtocolsAreRefusedAndCounted() throws IOException {
    open(PLAIN, PLAIN);
    String[] others = {
      "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003 a TLS client's hello ...",
      "SSH-2.0-OpenSSH_9.6\r\n"
    };
    for (String other : others) {
      try (RawPeer peer = new RawPeer(fixture.address())) {
        peer.send(other.getBytes(StandardCharsets.ISO_8859_1));
        assertTrue(peer.isEnded(), other);
      }
    }
    String garbage = "tcp.refused.garbage: what it sent is none of the protocol";
    assertEquals(
        List.of(garbage, "tcp.refused.tls: it has TLS, and this server has not", garbage), refused);
    assertEquals(2, figure("tcp.refused.garbage"));
    assertEquals(1, figure("tcp.refused.tls"));
    assertServes();
  }

  /** A port scanner that says nothing is none of them. */
  @Test
  void whoLeavesAmidItsFirstWordsIsCounted() throws IOException {
    open(PLAIN, PLAIN);
    new RawPeer(fixture.address()).close();
    try (RawPeer peer = new RawPeer(fixture.address())) {
      peer.send(new byte[] {'h', 'i', '\n'});
    }
    until(() -> figure("tcp.refused.garbage") > 0);
    assertServes();
    assertEquals(List.of("tcp.refused.garbage: what it sent is none of the protocol"), refused);
  }

  @Test
  void anotherVersionLearnsOurs() throws IOException {
    open(PLAIN, PLAIN);
    byte[] hello = RawPeer.hello(false, new byte[Hello.NONCE_BYTES]);
    hello[8] = 9;
    RawPeer.sealed(hello);
    try (RawPeer peer = new RawPeer(fixture.address())) {
      peer.send(hello);
      byte[] answer = peer.receive(Hello.BYTES);
      assertEquals(Hello.VERSION, answer[8]);
      assertTrue(peer.isEnded());
    }
    assertEquals(
        List.of(
            "tcp.refused.versions: it has version 9 of the frames over TCP, this server version 4"),
        refused);
  }

  /** Version 1 had no checksum in its HELLO. */
  @Test
  void versionOneLearnsOurs() throws IOException {
    open(PLAIN, PLAIN);
    byte[] hello = RawPeer.hello(false, new byte[Hello.NONCE_BYTES]);
    hello[8] = 1;
    java.util.Arrays.fill(hello, 60, 64, (byte) 0);
    try (RawPeer peer = new RawPeer(fixture.address())) {
      peer.send(hello);
      assertEquals(Hello.VERSION, peer.receive(Hello.BYTES)[8]);
      assertTrue(peer.isEnded());
    }
    assertEquals(
        List.of(
            "tcp.refused.versions: it has version 1 of the frames over TCP, this server version 4"),
        refused);
  }

  @Test
  void connectionsThatSayNothingMakeRoomForOthers() throws IOException {
    open(PLAIN.withHandshakes(Duration.ofMinutes(1), 4), PLAIN);
    List<RawPeer> silent = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      silent.add(new RawPeer(fixture.address()));
    }
    assertServes();
    assertTrue(silent.getFirst().isEnded());
    assertTrue(figure("tcp.refused.handshakes") >= 16);
    for (RawPeer peer : silent) {
      peer.close();
    }
  }

  @Test
  void aHandshakeHasItsTime() throws IOException {
    open(PLAIN.withHandshakes(Duration.ofMillis(50), 64), PLAIN);
    try (RawPeer peer = new RawPeer(fixture.address())) {
      peer.send(new byte[] {'E', 'R', 'D'});
      assertTrue(peer.isEnded());
    }
    assertEquals(1, figure("tcp.refused.handshakes"));
    assertEquals(List.of("tcp.refused.handshakes: it did not say who it is within 50 ms"), refused);
  }

  @Test
  void framesThatCannotBeEndTheirConnection() throws IOException {
    open(PLAIN, PLAIN);
    MemoryRegion writable = region(Access.REMOTE_READ | Access.REMOTE_WRITE);
    long key = writable.remoteKey();
    byte[] negative = RawPeer.request(Frame.READ, 0, RawPeer.words(key, 0, 8));
    RawPeer.lie(negative, Integer.MIN_VALUE | Frame.READ_BYTES);
    byte[] tooLong = RawPeer.request(Frame.SEND, 0, new byte[8]);
    RawPeer.lie(tooLong, 8 | 1 << 16);
    byte[] reserved = RawPeer.request(Frame.CREDIT, 0);
    reserved[11] = 1;
    RawPeer.sealedFrame(reserved);
    byte[][] wrong = {
      negative,
      tooLong,
      reserved,
      RawPeer.request(0, 0),
      RawPeer.request(200, 0),
      RawPeer.request(Frame.ACCEPT, 0),
      RawPeer.request(Frame.CONNECT, 0, new byte[Hello.PROOF_BYTES]),
      RawPeer.request(Frame.READ, 0),
      RawPeer.request(Frame.READ, 0, new byte[8]),
      RawPeer.request(Frame.READ, 0, new byte[Frame.READ_BYTES + 1]),
      RawPeer.request(Frame.READ, 0, new byte[(Frame.READS_MAX + 1) * Frame.READ_BYTES]),
      RawPeer.request(Frame.READ, 0, RawPeer.words(key, 0, 8, key, 0, -1)),
      RawPeer.request(Frame.READ, 0, RawPeer.words(key, 0, -1)),
      RawPeer.request(Frame.READ, 0, RawPeer.words(key, 0, 1L << 40)),
      RawPeer.request(Frame.WRITE, 0, new byte[16]),
      RawPeer.request(Frame.WRITE, 0, RawPeer.join(RawPeer.words(key, 0, 0), new byte[8])),
      RawPeer.request(Frame.FLUSH, 0, RawPeer.words(key, 0, -8)),
      RawPeer.frame(Frame.CREDIT, 0, 0, 0, 1),
      RawPeer.frame(Frame.CREDIT, 0, 0, 0, -1),
      // Behind the first part of a WRITE only more of it may come.
      RawPeer.join(
          RawPeer.write(Frame.MORE, key, 0, new byte[8]),
          RawPeer.request(Frame.READ, 0, RawPeer.words(key, 0, 8)))
    };
    for (int i = 0; i < wrong.length; i++) {
      try (RawPeer peer = new RawPeer(fixture.address())) {
        QueuePair end = peer.connect(listener);
        peer.send(wrong[i]);
        assertTrue(peer.isEnded(), "frame " + i);
        end.close();
      }
    }
    assertEquals(wrong.length, figure("tcp.refused.garbage"));
    assertServes();
  }

  @Test
  void whoSendsMoreMessagesThanTheWindowLosesItsConnection() throws IOException {
    open(PLAIN, PLAIN);
    try (RawPeer peer = new RawPeer(fixture.address())) {
      QueuePair end = peer.connect(listener);
      byte[] message = RawPeer.request(Frame.SEND, 0, new byte[16_000]);
      assertThrows(
          IOException.class,
          () -> {
            for (int i = 0; i < 1000; i++) {
              peer.send(message);
            }
          });
      end.close();
    }
    assertServes();
  }

  @Test
  void whoTakesNoAnswersIsServedNoFurther() throws IOException {
    open(PLAIN, PLAIN);
    MemoryRegion readable = region(Access.REMOTE_READ);
    byte[] read = RawPeer.request(Frame.READ, 0, RawPeer.words(readable.remoteKey(), 0, 4096));
    byte[] reads = RawPeer.join(read, read, read, read, read, read, read, read);
    try (RawPeer peer = new RawPeer(fixture.address())) {
      QueuePair end = peer.connect(listener);
      Thread flood =
          Thread.ofPlatform()
              .daemon()
              .start(() -> {
                try {
                  while (true) {
                    peer.send(reads);
                  }
                } catch (IOException e) {
                  // It ends with the connection.
                }
              });
      // It goes on until the sockets of both ways are full, then stands still.
      long[] before = {-1};
      until(() -> {
        long now = fixture.server().statistics().reads();
        boolean still = now > 0 && now == before[0];
        before[0] = now;
        java.util.concurrent.locks.LockSupport.parkNanos(100_000_000);
        return still;
      });
      assertTrue(flood.isAlive());
      assertServes();
      end.close();
    }
  }

  // The secret.

  @Test
  void bothEndsNeedTheSameSecret() throws IOException {
    Secret other = new Secret("another one of enough bytes".getBytes(StandardCharsets.US_ASCII));
    TcpOptions[] clients = {PLAIN, PLAIN.withSecret(other)};
    for (TcpOptions client : clients) {
      open(PLAIN.withSecret(SECRET), client);
      assertEquals(Status.SECRET, connectAndFail());
      assertEquals(1, figure("tcp.refused.secret"));
      fixture.close();
    }
    open(PLAIN, PLAIN.withSecret(SECRET));
    assertEquals(Status.SECRET, connectAndFail(), "a server without it is none of the client's");
    assertEquals(1, figure("tcp.refused.secret"));
    fixture.close();
    assertEquals(
        List.of(
            "tcp.refused.secret: it has no secret, and this server has",
            "tcp.refused.secret: it did not prove the secret",
            "tcp.refused.secret: it has a secret, and this server has not"),
        refused);
    open(PLAIN.withSecret(SECRET), PLAIN.withSecret(SECRET));
    assertServes();
  }

  private int connectAndFail() {
    Recorder seen = new Recorder();
    QueuePair client = fixture.client().connect(fixture.address(), NOTHING, Duration.ofSeconds(20));
    until(() -> {
      client.poll(seen, 8);
      assertNull(listener.poll(), "the server's logic hears nothing of it");
      return seen.has(Opcode.CONNECT);
    });
    client.close();
    return seen.first(Opcode.CONNECT).status();
  }

  @Test
  void aHandshakeThatWasHeardIsOfNoUseAgain() throws IOException {
    open(PLAIN.withSecret(SECRET), PLAIN);
    byte[] nonce = PLAIN.nonce();
    byte[] proof;
    try (RawPeer peer = new RawPeer(fixture.address())) {
      peer.greet(true, nonce);
      proof = SECRET.proof(Secret.Prover.CLIENT, nonce, peer.nonceThere, new byte[0], NOTHING);
      peer.send(RawPeer.request(Frame.CONNECT, 0, proof));
      ConnectionRequest[] request = new ConnectionRequest[1];
      until(() -> (request[0] = listener.poll()) != null);
      assertNull(request[0].user(), "whoever has the secret counts as the server's own user");
      QueuePair end = request[0].accept(NOTHING);
      byte[] answer = peer.receiveFrame();
      assertEquals(Frame.ACCEPT, RawPeer.type(answer));
      byte[] said =
          MemorySegment.ofArray(answer)
              .asSlice(Frame.PROOF, Hello.PROOF_BYTES)
              .toArray(ValueLayout.JAVA_BYTE);
      assertTrue(
          Secret.same(
              SECRET.proof(Secret.Prover.SERVER, nonce, peer.nonceThere, new byte[0], NOTHING),
              said),
          "the server proves it too");
      end.close();
    }
    try (RawPeer replay = new RawPeer(fixture.address())) {
      replay.greet(true, nonce);
      replay.send(RawPeer.request(Frame.CONNECT, 0, proof));
      byte[] answer = replay.receiveFrame();
      assertEquals(Frame.REJECT, RawPeer.type(answer));
      assertEquals(Status.SECRET, RawPeer.status(answer));
      assertTrue(replay.isEnded());
      assertNull(listener.poll());
    }
    assertEquals(1, figure("tcp.refused.secret"));
  }

  @Test
  void whoeverProvesNothingIsCountedTogether() throws IOException {
    open(PLAIN, PLAIN);
    try (RawPeer peer = new RawPeer(fixture.address())) {
      peer.greet(false, new byte[Hello.NONCE_BYTES]);
      peer.send(RawPeer.request(Frame.CONNECT, 0, new byte[Hello.PROOF_BYTES]));
      ConnectionRequest[] request = new ConnectionRequest[1];
      until(() -> (request[0] = listener.poll()) != null);
      assertEquals("over TCP without a secret", request[0].user());
      request[0].reject(NOTHING);
    }
  }

  @Test
  void otherHostsNeedASecret() throws IOException {
    try (TcpServerDevice open = TcpServerDevice.open(PLAIN)) {
      IOException e = assertThrows(IOException.class, () -> open.listen("0.0.0.0:0"));
      assertTrue(e.getMessage().contains("secret"), e.getMessage());
    }
    try (TcpServerDevice open = TcpServerDevice.open(PLAIN.withSecret(SECRET))) {
      open.listen("0.0.0.0:0").close();
    }
  }

  @Test
  void secretsComeFromFilesThatNobodyElseReads(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("secret"), "too short\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    assertThrows(IOException.class, () -> Secret.read(file));
    Files.writeString(file, "sixteen bytes at least\n");
    byte[] proof =
        Secret.read(file).proof(Secret.Prover.CLIENT, nonce(), nonce(), nonce(), NOTHING);
    assertTrue(
        Secret.same(SECRET.proof(Secret.Prover.CLIENT, nonce(), nonce(), nonce(), NOTHING), proof),
        "the line's end does not count");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
    IOException e = assertThrows(IOException.class, () -> Secret.read(file));
    assertTrue(e.getMessage().contains("chmod 600"), e.getMessage());
  }

  private static byte[] nonce() {
    return new byte[Hello.NONCE_BYTES];
  }

  // Rule 7.

  @Test
  void aPeerWritesWhatWasGrantedToItAndNothingElse() throws IOException {
    open(PLAIN, PLAIN);
    MemoryRegion region = region(Access.REMOTE_READ);
    byte[] data = RawPeer.words(0x0707_0707_0707_0707L, 0x0707_0707_0707_0707L);
    try (RawPeer peer = new RawPeer(fixture.address());
        RawPeer other = new RawPeer(fixture.address())) {
      QueuePair end = peer.connect(listener);
      QueuePair otherEnd = other.connect(listener);
      long granted = end.grant(region, 1024, 64);
      assertWrites(peer, Status.REMOTE_ACCESS, region.remoteKey(), 1024, data);
      assertWrites(peer, Status.SUCCESS, granted, 1024, data);
      assertWrites(peer, Status.SUCCESS, granted, 1072, data);
      assertWrites(peer, Status.REMOTE_ACCESS, granted, 1016, data);
      assertWrites(peer, Status.REMOTE_ACCESS, granted, 1080, data);
      assertWrites(peer, Status.REMOTE_ACCESS, granted, Long.MAX_VALUE, data);
      assertWrites(peer, Status.REMOTE_ACCESS, granted, Long.MIN_VALUE, data);
      assertWrites(peer, Status.REMOTE_ACCESS, granted + (1 << 16), 1024, data);
      assertWrites(other, Status.REMOTE_ACCESS, granted, 1024, data);
      assertEquals(7, figure("tcp.refused.accesses"));
      MemorySegment memory = region.memory();
      for (long at = 0; at < 4096; at += 8) {
        boolean written = at >= 1024 && at < 1040 || at >= 1072 && at < 1088;
        assertEquals(
            written ? 0x0707_0707_0707_0707L : 0,
            memory.get(ValueLayout.JAVA_LONG, at),
            "at " + at);
      }
      end.revoke(granted);
      assertWrites(peer, Status.REMOTE_ACCESS, granted, 1024, data);
      long again = end.grant(region, 2048, 64);
      assertTrue(again != granted);
      assertWrites(peer, Status.REMOTE_ACCESS, granted, 2048, data);
      assertWrites(peer, Status.SUCCESS, again, 2048, data);
      fixture.server().deregister(region);
      assertWrites(peer, Status.REMOTE_ACCESS, again, 2048, data);
      end.close();
      otherEnd.close();
    }
  }

  private static void assertWrites(RawPeer peer, int status, long key, long offset, byte[] data)
      throws IOException {
    peer.send(RawPeer.write(Frame.ACK, key, offset, data));
    byte[] answer = peer.receiveFrame();
    assertEquals(Frame.DONE, RawPeer.type(answer));
    assertEquals(Status.name(status), Status.name(RawPeer.status(answer)), "at " + offset);
  }

  @Test
  void thousandsOfGrantsAreKeptApart() throws IOException {
    open(PLAIN, PLAIN);
    MemoryRegion region = region(Access.REMOTE_READ);
    try (RawPeer peer = new RawPeer(fixture.address())) {
      QueuePair end = peer.connect(listener);
      long[] keys = new long[512];
      for (int round = 0; round < 4; round++) {
        for (int i = 0; i < keys.length; i++) {
          keys[i] = end.grant(region, 8L * i, 8);
        }
        for (int i = 0; i < keys.length; i += 37) {
          assertWrites(peer, Status.SUCCESS, keys[i], 8L * i, new byte[8]);
          assertWrites(peer, Status.REMOTE_ACCESS, keys[i], 8L * i + 8, new byte[8]);
        }
        for (long key : keys) {
          end.revoke(key);
        }
      }
      end.close();
    }
  }
}
