package io.erda.rdma.tcp;

import io.erda.rdma.StackRoom;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.security.GeneralSecurityException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.util.List;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;

/** Bytes through an SSLEngine. Allocates what the engine allocates. */
final class TlsTransport implements Transport {
  private static final String BINDING_LABEL = "EXPORTER-erda-tcp";
  private static final int BINDING_BYTES = 32;
  private static final String NO_TLS = "the other end has no TLS";

  /** Kinds of records, from the change of ciphers to the heartbeat. */
  private static final byte RECORD_MIN = 20;

  private static final byte RECORD_MAX = 24;

  /** The alerts of a client that rejects a certificate. */
  private static final List<String> DISBELIEF =
      List.of("certificate_unknown", "unknown_ca", "bad_certificate", "certificate_expired");

  /** Words of errors and alerts by which the two ends do not agree, however often they try. */
  private static final List<String> DISAGREEMENT =
      List.of(
          "handshake_failure",
          "protocol_version",
          "insufficient_security",
          "certificate_required",
          "unsupported_certificate",
          "access_denied",
          "appropriate protocol",
          "cipher suite",
          NO_TLS);

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final SocketChannel channel;
  private final SSLEngine engine;

  /** Encrypted bytes that have arrived; ready to be filled. */
  private final ByteBuffer netIn;

  /** Decrypted bytes that were not taken yet; ready to be taken. */
  private final ByteBuffer plainIn;

  /** Encrypted bytes that were not sent yet; ready to be sent. */
  private final ByteBuffer netOut;

  /** Whether only a part of the next record has arrived. */
  private boolean starved = true;

  private boolean ended;
  private boolean begun;

  TlsTransport(SocketChannel channel, SSLEngine engine) {
    this.channel = channel;
    this.engine = engine;
    int packet = engine.getSession().getPacketBufferSize();
    this.netIn = ByteBuffer.allocateDirect(packet);
    this.netOut = ByteBuffer.allocateDirect(packet).limit(0);
    this.plainIn = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize()).limit(0);
  }

  /**
   * Whether the two ends do not agree on TLS, or one does not believe the other's certificate.
   * Otherwise bytes were changed on their way, and another attempt may succeed.
   */
  static boolean isRefusal(SSLException e) {
    for (Throwable each = e; each != null; each = each.getCause()) {
      String said = String.valueOf(each.getMessage());
      if (each instanceof CertificateException
          || each instanceof CertPathValidatorException
          || each instanceof CertPathBuilderException
          || DISBELIEF.stream().anyMatch(said::contains)
          || DISAGREEMENT.stream().anyMatch(said::contains)) {
        return true;
      }
    }
    return false;
  }

  /** Returns why TLS with a server failed, in words for a user of the client. */
  static String why(SSLException e) {
    if (NO_TLS.equals(e.getMessage())) {
      return "the server has no TLS; leave tls-ca out of the URI";
    }
    Throwable cause = root(e);
    return cause instanceof GeneralSecurityException
        ? "the server's certificate is not believed: " + cause.getMessage()
        : cause.getMessage();
  }

  private static Throwable root(Throwable e) {
    Throwable cause = e;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  /** Returns why TLS with a client failed, in words for the server's operator. */
  static String whyAtServer(SSLException e) {
    if (NO_TLS.equals(e.getMessage())) {
      return "it has no TLS, and this server has";
    }
    String said = String.valueOf(root(e).getMessage());
    return DISBELIEF.stream().anyMatch(said::contains)
        ? "it does not believe this server's certificate: " + said
        : "there is no TLS with it: " + said;
  }

  @Override
  public int read(ByteBuffer to) throws IOException {
    StackRoom.require(StackRoom.OF_TLS);
    int before = to.position();
    boolean more = true;
    while (more && to.hasRemaining()) {
      move(to);
      if (to.hasRemaining()) {
        more = !ended && (unwrap() || fill());
      }
    }
    int read = to.position() - before;
    return read == 0 && ended ? -1 : read;
  }

  private void move(ByteBuffer to) {
    int bytes = Math.min(to.remaining(), plainIn.remaining());
    if (bytes > 0) {
      to.put(to.position(), plainIn, plainIn.position(), bytes);
      to.position(to.position() + bytes);
      plainIn.position(plainIn.position() + bytes);
    }
  }

  /** Reads from the socket. Returns whether bytes came. */
  private boolean fill() throws IOException {
    int read = channel.read(netIn);
    if (read < 0) {
      ended = true;
    }
    begun |= read > 0;
    starved &= read <= 0;
    return read > 0;
  }

  /** Decrypts a record, or does a step of the handshake. Returns whether that changed anything. */
  private boolean unwrap() throws IOException {
    switch (engine.getHandshakeStatus()) {
      case NEED_TASK -> {
        runTasks();
        return true;
      }
      case NEED_WRAP -> {
        return wrap(NOTHING);
      }
      default -> {
        // A record was decrypted, of the handshake or with data.
      }
    }
    if (netIn.position() == 0) {
      return false;
    }
    boolean noTls = netIn.get(0) < RECORD_MIN || netIn.get(0) > RECORD_MAX;
    // At a server the engine handles this case: it sends an alert to a client without TLS.
    if (noTls && engine.getUseClientMode()) {
      throw new SSLException(NO_TLS);
    }
    netIn.flip();
    plainIn.clear();
    SSLEngineResult result;
    try {
      result = engine.unwrap(netIn, plainIn);
    } catch (SSLException e) {
      throw noTls ? new SSLException(NO_TLS, e) : e;
    } finally {
      plainIn.flip();
      netIn.compact();
    }
    starved = result.getStatus() == SSLEngineResult.Status.BUFFER_UNDERFLOW;
    if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
      ended = true;
    }
    return result.bytesConsumed() > 0 || result.bytesProduced() > 0;
  }

  private void runTasks() {
    for (Runnable task = engine.getDelegatedTask();
        task != null;
        task = engine.getDelegatedTask()) {
      task.run();
    }
  }

  /**
   * Encrypts some bytes, or does a step of the handshake. Returns whether that changed anything.
   */
  private boolean wrap(ByteBuffer from) throws IOException {
    if (!sendEncrypted()) {
      return false;
    }
    netOut.clear();
    SSLEngineResult result;
    try {
      result = engine.wrap(from, netOut);
    } finally {
      netOut.flip();
    }
    if (result.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_TASK) {
      runTasks();
    }
    sendEncrypted();
    return result.bytesConsumed() > 0 || result.bytesProduced() > 0;
  }

  /** Sends encrypted bytes. Returns whether nothing is left to be sent. */
  private boolean sendEncrypted() throws IOException {
    if (netOut.hasRemaining()) {
      channel.write(netOut);
    }
    return !netOut.hasRemaining();
  }

  @Override
  public void write(ByteBuffer from) throws IOException {
    StackRoom.require(StackRoom.OF_TLS);
    while (from.hasRemaining()) {
      switch (engine.getHandshakeStatus()) {
        case NEED_TASK -> runTasks();
        case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
          // Writing goes on after further bytes were read.
          return;
        }
        default -> {
          if (!wrap(from)) {
            return;
          }
        }
      }
    }
  }

  @Override
  public boolean isWaiting() {
    return netOut.hasRemaining();
  }

  @Override
  public boolean hasMore() {
    return !ended && (plainIn.hasRemaining() || netIn.position() > 0 && !starved);
  }

  @Override
  public void flush() throws IOException {
    StackRoom.require(StackRoom.OF_TLS);
    sendEncrypted();
  }

  @Override
  public boolean isAgreeing() {
    return begun && engine.getHandshakeStatus() != SSLEngineResult.HandshakeStatus.NOT_HANDSHAKING;
  }

  @Override
  public byte[] binding() throws IOException {
    StackRoom.require(StackRoom.OF_TLS);
    if (!(engine.getSession() instanceof ExtendedSSLSession session)) {
      throw new SSLException("this JDK's TLS has no keying material to bind a proof to");
    }
    return session.exportKeyingMaterialData(BINDING_LABEL, new byte[0], BINDING_BYTES);
  }

  @Override
  public SocketChannel channel() {
    return channel;
  }

  @Override
  public void close() {
    StackRoom.require(StackRoom.OF_TLS);
    try {
      engine.closeOutbound();
      wrap(NOTHING);
    } catch (IOException | RuntimeException e) {
      // The error does not matter, because the other end notices the end of the socket.
    } finally {
      Sockets.close(channel);
    }
  }
}
