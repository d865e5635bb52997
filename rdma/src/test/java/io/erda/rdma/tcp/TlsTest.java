package io.erda.rdma.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import io.erda.rdma.testing.Certificates;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Encrypted connections: what is carried, and who is not believed. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class TlsTest {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);
  private static final TcpOptions PLAIN = TcpOptions.of(System::nanoTime, new SecureRandom());
  private static final Secret SECRET =
      new Secret("sixteen bytes at least".getBytes(StandardCharsets.US_ASCII));

  @TempDir private static Path directory;
  private static Certificates ours;
  private static Certificates strangers;

  private String failure;

  /** The refusals that the server's device has reported. */
  private final List<String> refused = new CopyOnWriteArrayList<>();

  @BeforeAll
  static void makeCertificates() throws Exception {
    ours = Certificates.make(directory, "ours", "ip:127.0.0.1");
    strangers = Certificates.make(directory, "strangers", "ip:127.0.0.2");
  }

  private static TcpOptions server(Certificates certificates) throws IOException {
    return PLAIN.withTls(Tls.server(certificates.certificate(), certificates.key()));
  }

  private static TcpOptions client(Certificates trusted) throws IOException {
    return PLAIN.withTls(Tls.client(trusted.certificate()));
  }

  private Listener listen(TcpFixture fixture) throws IOException {
    return fixture
        .server()
        .listen(
            fixture.address(),
            (peer, figure, why) -> refused.add(figure + ": " + why),
            error -> {});
  }

  /** Connects, moves bytes to and fro, and returns the status of connecting. */
  private int run(TcpOptions ofServer, TcpOptions ofClient) throws IOException {
    try (TcpFixture fixture = new TcpFixture(ofServer, ofClient)) {
      Listener listener = listen(fixture);
      DeviceFixture.ServerMemory there = fixture.serverMemory(1 << 20);
      MemoryRegion region =
          fixture
              .server()
              .register(there.segment(), there.backing(), Access.REMOTE_READ | Access.REMOTE_WRITE);
      MemorySegment here = fixture.clientMemory(2 << 20);
      MemoryRegion local =
          fixture.client().register(here, Backing.none(here.byteSize()), Access.LOCAL);
      byte[] bytes = new byte[1 << 20];
      new Random(5).nextBytes(bytes);
      MemorySegment.copy(bytes, 0, here, ValueLayout.JAVA_BYTE, 0, bytes.length);
      Recorder seen = new Recorder();
      QueuePair end = fixture.client().connect(fixture.address(), NOTHING, Duration.ofSeconds(20));
      while (!seen.has(Opcode.CONNECT)) {
        ConnectionRequest request = listener.poll();
        if (request != null) {
          request.accept(NOTHING);
        }
        end.poll(seen, 8);
      }
      failure = end.failure();
      int status = seen.first(Opcode.CONNECT).status();
      while (status != Status.SUCCESS && refused.isEmpty()) {
        Thread.yield();
      }
      if (status == Status.SUCCESS) {
        long key = region.remoteKey();
        end.post(Work.write().id(1).local(local, 0, bytes.length).remote(key, 0).signaled());
        await(end, seen, Opcode.WRITE);
        assertEquals(-1, there.segment().mismatch(MemorySegment.ofArray(bytes)));
        end.post(Work.read().id(2).local(local, 1 << 20, bytes.length).remote(key, 0).signaled());
        await(end, seen, Opcode.READ);
        assertEquals(-1, here.asSlice(1 << 20).mismatch(MemorySegment.ofArray(bytes)));
      }
      return status;
    }
  }

  private static void await(QueuePair end, Recorder seen, int opcode) {
    while (!seen.has(opcode)) {
      if (end.poll(seen, 8) == 0 && end.arm()) {
        assertTrue(end.await(20_000_000_000L));
      }
    }
    assertEquals(Status.SUCCESS, seen.first(opcode).status());
  }

  @Test
  void carriesWhatIsCarriedWithoutIt() throws IOException {
    assertEquals(Status.SUCCESS, run(server(ours), client(ours)));
    assertEquals(
        Status.SUCCESS,
        run(server(ours).withSecret(SECRET), client(ours).withSecret(SECRET)),
        "with a secret");
  }

  @Test
  void aCertificateOfAStrangersOrOfAnotherHostIsNotBelieved() throws IOException {
    String why = "it does not believe this server's certificate: ";
    assertNotAgreed("is not believed: ", why, server(strangers), client(ours));
    assertNotAgreed("is not believed: No subject", why, server(strangers), client(strangers));
  }

  /** A group may read a key of the superuser's, as machines keep those of several services. */
  @Test
  void aKeyComesFromAFileThatNobodyElseReads() throws IOException {
    boolean superusers = Files.getOwner(ours.key()).getName().equals("root");
    try {
      for (String mode : List.of("rw-r--r--", "rw-rw----", "rw----r--", "rw-r-----")) {
        Files.setPosixFilePermissions(ours.key(), PosixFilePermissions.fromString(mode));
        if (superusers && mode.equals("rw-r-----")) {
          server(ours);
        } else {
          IOException e = assertThrows(IOException.class, () -> server(ours), mode);
          assertTrue(e.getMessage().contains("chmod 600"), e.getMessage());
        }
      }
    } finally {
      Files.setPosixFilePermissions(ours.key(), PosixFilePermissions.fromString("rw-------"));
    }
  }

  @Test
  void filesThatHoldSomethingElseAreNamed() throws Exception {
    assertNoTls(ours.key() + " holds no certificate (PEM)", ours.key(), ours.certificate());
    Path cut = directory.resolve("cut.crt");
    Files.writeString(cut, "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n");
    assertNoTls(cut + " holds no certificate (PEM)", cut, ours.key());
    Path copy = ownersAlone("copy.crt", Files.readString(ours.certificate()));
    assertNoTls(
        copy + " holds no PRIVATE KEY (PKCS#8, PEM, without a password)", ours.certificate(), copy);
    String isNot = " is not the private key of the (first) certificate in ";
    KeyPairGenerator rsa = KeyPairGenerator.getInstance("RSA");
    Path another = ownersAlone("rsa.key", pem(rsa.generateKeyPair().getPrivate().getEncoded()));
    Path noKey = ownersAlone("no.key", pem(new byte[] {1, 2, 3}));
    for (Path key : List.of(strangers.key(), another, noKey)) {
      assertNoTls(key + isNot + ours.certificate(), ours.certificate(), key);
    }
    IOException e = assertThrows(IOException.class, () -> Tls.client(ours.key()));
    assertEquals(ours.key() + " holds no certificate (PEM)", e.getMessage());
  }

  private static void assertNoTls(String why, Path certificate, Path key) {
    IOException e = assertThrows(IOException.class, () -> Tls.server(certificate, key));
    assertEquals(why, e.getMessage());
  }

  private static String pem(byte[] key) {
    return "-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----\n"
        .formatted(Base64.getMimeEncoder().encodeToString(key));
  }

  private static Path ownersAlone(String name, String text) throws IOException {
    Path file = Files.writeString(directory.resolve(name), text);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
  }

  @Test
  void bothEndsOrNone() throws IOException {
    assertNotAgreed(
        "the server has TLS", "it has no TLS, and this server has", server(ours), PLAIN);
    assertNotAgreed(
        "the server has no TLS", "it has TLS, and this server has not", PLAIN, client(ours));
  }

  @Test
  void otherProtocolsAreRefusedAndCounted() throws IOException {
    try (TcpFixture fixture = new TcpFixture(server(ours), PLAIN)) {
      listen(fixture);
      byte[] noise = new byte[100_000];
      new Random(6).nextBytes(noise);
      byte[] record = {22, 3, 1, 0, 5, 1, 0, 0, 1, 0};
      byte[][] all = {"GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII), noise, record};
      for (byte[] each : all) {
        try (RawPeer peer = new RawPeer(fixture.address())) {
          try {
            peer.send(each);
          } catch (IOException e) {
            // The server has ended the connection already.
          }
          assertTrue(peer.isEnded());
        }
      }
      // It leaves amid a record.
      try (RawPeer peer = new RawPeer(fixture.address())) {
        peer.send(Arrays.copyOf(record, 7));
      }
      while (refused.size() <= all.length) {
        Thread.yield();
      }
      String noTls = "tcp.refused.tls: it has no TLS, and this server has";
      assertEquals(List.of(noTls, noTls), refused.subList(0, 2));
      assertTrue(
          refused.get(2).startsWith("tcp.refused.tls: there is no TLS with it: "), refused.get(2));
      assertEquals("tcp.refused.tls: it left before TLS was agreed on", refused.get(3));
      assertEquals(4, fixture.server().figures().get("tcp.refused.tls").getAsLong());
    }
  }

  /**
   * The connection fails with {@link Status#ENCRYPTION} and a text that gives the reason, and not
   * with the error for a missing server. The server's device also reports the reason.
   */
  private void assertNotAgreed(
      String why, String whyAtServer, TcpOptions ofServer, TcpOptions ofClient) throws IOException {
    refused.clear();
    assertEquals(Status.ENCRYPTION, run(ofServer, ofClient));
    assertTrue(failure.contains(why), failure);
    assertEquals(1, refused.size(), refused::toString);
    assertTrue(
        refused.getFirst().startsWith("tcp.refused.tls: " + whyAtServer), refused.getFirst());
  }

  /**
   * A man in the middle: has a certificate that the client believes, and passes on what both say.
   */
  @Test
  void aProofIsOfUseInItsOwnConnectionAlone() {
    byte[] one = {1};
    byte[] two = {2};
    byte[] nonce = PLAIN.nonce();
    assertTrue(
        !Secret.same(
            SECRET.proof(Secret.Prover.CLIENT, nonce, nonce, one, NOTHING),
            SECRET.proof(Secret.Prover.CLIENT, nonce, nonce, two, NOTHING)));
    assertTrue(
        !Secret.same(
            SECRET.proof(Secret.Prover.CLIENT, nonce, nonce, one, NOTHING),
            SECRET.proof(Secret.Prover.SERVER, nonce, nonce, one, NOTHING)),
        "sent back to where it came from");
  }
}
