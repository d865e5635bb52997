package io.erda.rdma.tcp;

import io.erda.rdma.Device;
import io.erda.rdma.Status;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLException;

/**
 * The handshake of a requester: it connects the socket, both ends send HELLO, the requester sends
 * CONNECT with a proof and private data, and the other end answers ACCEPT or REJECT with its proof.
 * Never blocks.
 */
final class ClientHandshake {
  /** Stands for a status while the handshake goes on. */
  static final int UNDECIDED = ClientSocket.UNDECIDED;

  private static final String DAMAGED = "what the server sent was damaged on its way";

  private enum Step {
    SOCKET,
    HELLO,
    ANSWER,
    DECIDED
  }

  private final TcpOptions options;
  private final String address;
  private final byte[] privateDataOut;
  private final byte[] nonce;
  private final ClientSocket socket;
  private Step step = Step.SOCKET;
  private Transport transport;
  private byte[] nonceThere;
  private MemorySegment privateData = MemorySegment.ofArray(new byte[0]);
  private String failure = "";

  /**
   * Begins to connect.
   *
   * @param deadlineNs when the attempt ends, on the device's clock
   */
  ClientHandshake(
      TcpClientDevice device, String address, MemorySegment privateData, long deadlineNs) {
    if (privateData.byteSize() > Device.PRIVATE_DATA_MAX) {
      throw new IllegalArgumentException(
          privateData.byteSize() + " bytes of private data; at most " + Device.PRIVATE_DATA_MAX);
    }
    this.options = device.options();
    this.address = address;
    this.privateDataOut = privateData.toArray(ValueLayout.JAVA_BYTE);
    this.nonce = options.nonce();
    this.socket = new ClientSocket(device, address, deadlineNs);
  }

  /** The transport over the socket; null before the socket is connected. */
  Transport transport() {
    return transport;
  }

  /** Returns the socket; null when there is none yet, or none any more. */
  SocketChannel channel() {
    return socket.channel();
  }

  /**
   * When to call {@link #advance} although nothing has happened, on the device's clock; at the
   * attempt's deadline at the latest.
   */
  long lookAgainNs() {
    return socket.lookAgainNs();
  }

  /** The private data that came with the other end's answer. */
  MemorySegment privateData() {
    return privateData;
  }

  /**
   * Returns, for messages, why the attempt failed, in addition to its status; empty when it is
   * unknown.
   */
  String failure() {
    return failure.isEmpty() ? socket.failure() : failure;
  }

  String address() {
    return address;
  }

  /** Goes on with the handshake. Returns its final status, or {@link #UNDECIDED}. */
  int advance(InBuffer in, OutBuffer out) {
    try {
      if (step == Step.SOCKET) {
        int connected = socket.advance();
        if (connected != Status.SUCCESS) {
          return connected;
        }
        transport =
            options.tls() == null
                ? new Transport.Plain(socket.channel())
                : options.tls().wrap(socket.channel(), socket.host(), socket.port());
        out.addHello(options.secret() != null, nonce);
        step = Step.HELLO;
      }
      out.flush(transport);
      int read = in.fill(transport);
      int status = step == Step.HELLO ? onHello(in, out) : UNDECIDED;
      if (step == Step.ANSWER && status == UNDECIDED) {
        out.flush(transport);
        status = onAnswer(in);
      }
      if (status == UNDECIDED && read < 0) {
        status = Status.TURNED_AWAY;
      }
      step = status == UNDECIDED ? step : Step.DECIDED;
      return status;
    } catch (SSLException e) {
      if (!TlsTransport.isRefusal(e)) {
        return damaged();
      }
      failure = TlsTransport.why(e);
      return Status.ENCRYPTION;
    } catch (IOException e) {
      return step == Step.SOCKET ? Status.UNREACHABLE : Status.TURNED_AWAY;
    }
  }

  private int onHello(InBuffer in, OutBuffer out) throws IOException {
    if (in.available() >= Short.BYTES && Hello.isTlsAlert(in.memory(), in.at())) {
      failure =
          "the server has TLS; the URI names its certificate, or that of who signed it, with"
              + " tls-ca=FILE";
      return Status.ENCRYPTION;
    }
    if (in.available() >= Long.BYTES && !Hello.begins(in.memory(), in.at())) {
      return Hello.isDamagedMagic(in.memory(), in.at()) ? damaged() : Status.INCOMPATIBLE;
    }
    if (in.available() < Hello.BYTES) {
      return UNDECIDED;
    }
    if (!in.isHelloSound()) {
      return damaged();
    }
    int version = Hello.version(in.memory(), in.at());
    if (version != Hello.VERSION) {
      failure =
          "the server has version "
              + version
              + " of the frames over TCP, this client version "
              + Hello.VERSION;
      return Status.INCOMPATIBLE;
    }
    if (!Hello.isOurs(in.memory(), in.at())) {
      return Status.INCOMPATIBLE;
    }
    if (Hello.hasSecret(in.memory(), in.at()) != (options.secret() != null)) {
      return Status.SECRET;
    }
    nonceThere = Hello.nonce(in.memory(), in.at());
    in.take(Hello.BYTES);
    byte[] proof = proof(Secret.Prover.CLIENT, MemorySegment.ofArray(privateDataOut));
    MemorySegment memory = out.memory();
    MemorySegment.copy(
        proof, 0, memory, ValueLayout.JAVA_BYTE, out.at() + Frame.PROOF, proof.length);
    MemorySegment.copy(
        privateDataOut,
        0,
        memory,
        ValueLayout.JAVA_BYTE,
        out.at() + Frame.PRIVATE_DATA,
        privateDataOut.length);
    int payload = Hello.PROOF_BYTES + privateDataOut.length;
    out.addFrame(payload, Frame.CONNECT, 0, 0, 0, 0);
    step = Step.ANSWER;
    return UNDECIDED;
  }

  private int onAnswer(InBuffer in) throws IOException {
    int bytes = in.frame(Frame.HANDSHAKE_BYTES_MAX);
    if (bytes == 0) {
      return UNDECIDED;
    }
    if (bytes == Frame.DAMAGED) {
      return damaged();
    }
    if (bytes == Frame.WRONG) {
      return Status.INCOMPATIBLE;
    }
    MemorySegment memory = in.memory();
    int at = in.at();
    int payload = Frame.payload(memory, at);
    int type = Frame.type(memory, at);
    int status = Frame.status(memory, at);
    if (type == Frame.REJECT && status != Status.SUCCESS && payload == 0) {
      in.take(bytes);
      return status;
    }
    if ((type != Frame.ACCEPT && type != Frame.REJECT)
        || payload < Hello.PROOF_BYTES
        || payload > Hello.PROOF_BYTES + Device.PRIVATE_DATA_MAX) {
      return Status.INCOMPATIBLE;
    }
    byte[] said =
        memory.asSlice(at + Frame.PROOF, Hello.PROOF_BYTES).toArray(ValueLayout.JAVA_BYTE);
    MemorySegment data =
        MemorySegment.ofArray(
            memory
                .asSlice(at + Frame.PRIVATE_DATA, payload - Hello.PROOF_BYTES)
                .toArray(ValueLayout.JAVA_BYTE));
    in.take(bytes);
    if (!Secret.same(proof(Secret.Prover.SERVER, data), said)) {
      return Status.SECRET;
    }
    privateData = data;
    return type == Frame.ACCEPT ? Status.SUCCESS : Status.REJECTED;
  }

  /**
   * Ends the attempt because bytes were changed during the transfer; another attempt may succeed.
   */
  private int damaged() {
    failure = DAMAGED;
    return Status.TURNED_AWAY;
  }

  /** Notes that a frame after the handshake was damaged. */
  void onDamaged() {
    failure = DAMAGED;
  }

  private byte[] proof(Secret.Prover prover, MemorySegment data) throws IOException {
    return options.secret() == null
        ? new byte[Hello.PROOF_BYTES]
        : options.secret().proof(prover, nonce, nonceThere, transport.binding(), data);
  }

  void close() {
    socket.close();
  }
}
