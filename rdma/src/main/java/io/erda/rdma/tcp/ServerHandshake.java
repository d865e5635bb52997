package io.erda.rdma.tcp;

import io.erda.rdma.Device;
import io.erda.rdma.Status;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The handshake of a responder with a peer, whose bytes are checked: both ends send HELLO, the peer
 * sends CONNECT with a proof and private data, and the responder sends its own proof with the
 * answer.
 */
final class ServerHandshake {
  /** The result of handling the bytes that have arrived. */
  enum Outcome {
    /** More bytes must arrive. */
    WAITS,
    GOES_ON,
    /** The peer is refused, and was told the reason in a form that it understands. */
    REFUSED
  }

  private final TcpOptions options;
  private final Transport transport;
  private final byte[] nonce;
  private byte[] nonceThere;
  private boolean greeted;
  private RefusedPeers.Kind refusal;
  private String why;

  /** The peer's private data. The server's thread reads it, too, after it has got the request. */
  private volatile byte[] privateData = {};

  ServerHandshake(TcpOptions options, Transport transport) {
    this.options = options;
    this.transport = transport;
    this.nonce = options.nonce();
  }

  /** The peer's private data. From any thread. */
  MemorySegment privateData() {
    return MemorySegment.ofArray(privateData);
  }

  /** REQUIRES: {@link Outcome#REFUSED}. */
  RefusedPeers.Kind refusal() {
    return refusal;
  }

  /** Why the peer is refused, in words. REQUIRES: {@link Outcome#REFUSED}. */
  String why() {
    return why;
  }

  private Outcome refuse(RefusedPeers.Kind kind, String reason) {
    refusal = kind;
    why = reason;
    return Outcome.REFUSED;
  }

  /**
   * Goes on with the handshake. Returns {@link Outcome#GOES_ON} when the peer has proved the
   * secret.
   */
  Outcome advance(InBuffer in, OutBuffer out) throws IOException {
    if (!greeted) {
      Outcome hello = onHello(in, out);
      if (hello != Outcome.GOES_ON) {
        return hello;
      }
      greeted = true;
    }
    return onConnect(in, out);
  }

  private Outcome onHello(InBuffer in, OutBuffer out) {
    if (in.available() >= Long.BYTES && !Hello.begins(in.memory(), in.at())) {
      if (Hello.isDamagedMagic(in.memory(), in.at())) {
        return refuse(RefusedPeers.Kind.DAMAGED, RefusedPeers.DAMAGED);
      }
      if (!Hello.isTlsHandshake(in.memory(), in.at())) {
        return refuse(RefusedPeers.Kind.GARBAGE, RefusedPeers.GARBAGE);
      }
      // By this HELLO the client notices that the server has no TLS, and can report that.
      sayHello(out);
      return refuse(RefusedPeers.Kind.TLS, "it has TLS, and this server has not");
    }
    if (in.available() < Hello.BYTES) {
      return Outcome.WAITS;
    }
    if (!in.isHelloSound()) {
      return refuse(RefusedPeers.Kind.DAMAGED, RefusedPeers.DAMAGED);
    }
    int version = Hello.version(in.memory(), in.at());
    boolean ours = Hello.isOurs(in.memory(), in.at());
    boolean hasSecret = Hello.hasSecret(in.memory(), in.at());
    nonceThere = Hello.nonce(in.memory(), in.at());
    in.take(Hello.BYTES);
    sayHello(out);
    if (!ours && version == Hello.VERSION) {
      return refuse(RefusedPeers.Kind.GARBAGE, RefusedPeers.GARBAGE);
    }
    if (!ours) {
      return refuse(
          RefusedPeers.Kind.VERSION,
          "it has version "
              + version
              + " of the frames over TCP, this server version "
              + Hello.VERSION);
    }
    if (hasSecret != (options.secret() != null)) {
      return refuse(
          RefusedPeers.Kind.SECRET,
          hasSecret
              ? "it has a secret, and this server has not"
              : "it has no secret, and this server has");
    }
    return Outcome.GOES_ON;
  }

  private void sayHello(OutBuffer out) {
    out.addHello(options.secret() != null, nonce);
  }

  private Outcome onConnect(InBuffer in, OutBuffer out) throws IOException {
    int bytes = in.frame(Frame.HANDSHAKE_BYTES_MAX);
    if (bytes == 0) {
      return Outcome.WAITS;
    }
    if (bytes == Frame.DAMAGED) {
      return refuse(RefusedPeers.Kind.DAMAGED, RefusedPeers.DAMAGED);
    }
    MemorySegment memory = in.memory();
    int at = in.at();
    int payload = bytes == Frame.WRONG ? 0 : Frame.payload(memory, at);
    if (payload < Hello.PROOF_BYTES
        || payload > Hello.PROOF_BYTES + Device.PRIVATE_DATA_MAX
        || Frame.type(memory, at) != Frame.CONNECT) {
      return refuse(RefusedPeers.Kind.GARBAGE, RefusedPeers.GARBAGE);
    }
    byte[] said =
        memory.asSlice(at + Frame.PROOF, Hello.PROOF_BYTES).toArray(ValueLayout.JAVA_BYTE);
    privateData =
        memory
            .asSlice(at + Frame.PRIVATE_DATA, payload - Hello.PROOF_BYTES)
            .toArray(ValueLayout.JAVA_BYTE);
    in.take(bytes);
    if (!Secret.same(proof(Secret.Prover.CLIENT, privateData()), said)) {
      out.addFrame(0, Frame.REJECT, 0, Status.SECRET, 0, 0);
      return refuse(RefusedPeers.Kind.SECRET, "it did not prove the secret");
    }
    return Outcome.GOES_ON;
  }

  private byte[] proof(Secret.Prover prover, MemorySegment data) throws IOException {
    return options.secret() == null
        ? new byte[Hello.PROOF_BYTES]
        : options.secret().proof(prover, nonceThere, nonce, transport.binding(), data);
  }

  /** Sends the decision of the server's logic. */
  void answer(OutBuffer out, boolean accepted, MemorySegment data) throws IOException {
    byte[] proof = proof(Secret.Prover.SERVER, data);
    int payload = Hello.PROOF_BYTES + (int) data.byteSize();
    MemorySegment memory = out.memory();
    MemorySegment.copy(
        proof, 0, memory, ValueLayout.JAVA_BYTE, out.at() + Frame.PROOF, proof.length);
    MemorySegment.copy(data, 0, memory, out.at() + Frame.PRIVATE_DATA, data.byteSize());
    out.addFrame(payload, accepted ? Frame.ACCEPT : Frame.REJECT, 0, 0, 0, 0);
  }
}
