package io.erda.rdma.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.rdma.RefusalListener;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.NoSuchAlgorithmException;
import java.security.Provider;
import java.security.SecureRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLContextSpi;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLServerSocketFactory;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A TLS engine of the JDK that throws what it should not. An exception is a matter of its
 * connection. After an Error nothing in the JVM can be relied on, so the I/O thread ends, and tells
 * the server, which ends with one line: it does not go on without that thread.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class BrokenTlsTest {
  private static final byte[] RECORD = {22, 3, 1, 0, 1, 1};

  private CompletableFuture<Throwable> failed;

  /** A device whose first connection has an engine that throws, while the others wait. */
  private TcpServerDevice device(Throwable thrown, String address) throws Exception {
    failed = new CompletableFuture<>();
    int[] engines = {0};
    SSLContext broken =
        new BrokenContext((host, port) -> new BrokenEngine(engines[0]++ == 0 ? thrown : null));
    TcpServerDevice device =
        TcpServerDevice.open(
            TcpOptions.of(System::nanoTime, new SecureRandom()).withTls(new Tls(broken, false)));
    device.listen(address, RefusalListener.NONE, failed::complete);
    return device;
  }

  private static String freeAddress() throws IOException {
    try (TcpFixture fixture = new TcpFixture()) {
      return fixture.address();
    }
  }

  /** The engine throws once more when the connection that failed is closed. */
  @Test
  void anExceptionEndsItsConnectionAlone() throws Exception {
    String address = freeAddress();
    TcpServerDevice device = device(new IllegalStateException("engine"), address);
    try (RawPeer first = new RawPeer(address);
        RawPeer second = new RawPeer(address)) {
      first.send(RECORD);
      assertTrue(first.isEnded());
      second.send(RECORD);
      try (RawPeer third = new RawPeer(address)) {
        third.send(RECORD);
      }
      assertEquals(null, failed.getNow(null));
    } finally {
      device.close();
    }
    assertEquals(null, failed.getNow(null));
  }

  @Test
  void anErrorEndsTheThreadWhichTellsTheServerAndEndsAllConnections() throws Exception {
    for (Error error : new Error[] {new InternalError("engine"), new StackOverflowError()}) {
      String address = freeAddress();
      TcpServerDevice device = device(error, address);
      try (RawPeer first = new RawPeer(address);
          RawPeer second = new RawPeer(address)) {
        first.send(RECORD);
        assertSame(error, failed.get(30, TimeUnit.SECONDS));
        assertTrue(first.isEnded());
        assertTrue(second.isEnded());
        assertThrows(IOException.class, () -> new RawPeer(address).close());
      } finally {
        device.close();
      }
    }
  }

  private static final class BrokenContext extends SSLContext {
    BrokenContext(BiFunction<String, Integer, SSLEngine> engines) throws NoSuchAlgorithmException {
      super(new Engines(engines), provider(), "TLS");
    }

    private static Provider provider() throws NoSuchAlgorithmException {
      return SSLContext.getDefault().getProvider();
    }
  }

  private static final class Engines extends SSLContextSpi {
    private final BiFunction<String, Integer, SSLEngine> engines;

    Engines(BiFunction<String, Integer, SSLEngine> engines) {
      this.engines = engines;
    }

    @Override
    protected void engineInit(KeyManager[] keys, TrustManager[] trust, SecureRandom random) {}

    @Override
    protected SSLSocketFactory engineGetSocketFactory() {
      return null;
    }

    @Override
    protected SSLServerSocketFactory engineGetServerSocketFactory() {
      return null;
    }

    @Override
    protected SSLEngine engineCreateSSLEngine() {
      return engines.apply(null, 0);
    }

    @Override
    protected SSLEngine engineCreateSSLEngine(String host, int port) {
      return engines.apply(host, port);
    }

    @Override
    protected SSLSessionContext engineGetServerSessionContext() {
      return null;
    }

    @Override
    protected SSLSessionContext engineGetClientSessionContext() {
      return null;
    }
  }

  /** An engine that throws when it gets bytes, and when it is closed; or waits for ever. */
  private static final class BrokenEngine extends SSLEngine {
    private final SSLSession session;
    private final Throwable thrown;

    BrokenEngine(Throwable thrown) {
      this.thrown = thrown;
      try {
        this.session = SSLContext.getDefault().createSSLEngine().getSession();
      } catch (NoSuchAlgorithmException e) {
        throw new AssertionError(e);
      }
    }

    private void fail() {
      switch (thrown) {
        case RuntimeException e -> throw e;
        case Error e -> throw e;
        case null, default -> {
          // This one does not fail.
        }
      }
    }

    @Override
    public SSLEngineResult unwrap(ByteBuffer from, ByteBuffer[] to, int offset, int length)
        throws SSLException {
      fail();
      return new SSLEngineResult(
          SSLEngineResult.Status.BUFFER_UNDERFLOW, getHandshakeStatus(), 0, 0);
    }

    @Override
    public SSLEngineResult wrap(ByteBuffer[] from, int offset, int length, ByteBuffer to) {
      return new SSLEngineResult(SSLEngineResult.Status.CLOSED, getHandshakeStatus(), 0, 0);
    }

    @Override
    public void closeOutbound() {
      fail();
    }

    @Override
    public SSLEngineResult.HandshakeStatus getHandshakeStatus() {
      return SSLEngineResult.HandshakeStatus.NEED_UNWRAP;
    }

    @Override
    public SSLSession getSession() {
      return session;
    }

    @Override
    public Runnable getDelegatedTask() {
      return null;
    }

    @Override
    public void closeInbound() {}

    @Override
    public boolean isInboundDone() {
      return false;
    }

    @Override
    public boolean isOutboundDone() {
      return false;
    }

    @Override
    public String[] getSupportedCipherSuites() {
      return new String[0];
    }

    @Override
    public String[] getEnabledCipherSuites() {
      return new String[0];
    }

    @Override
    public void setEnabledCipherSuites(String[] suites) {}

    @Override
    public String[] getSupportedProtocols() {
      return new String[] {"TLSv1.3"};
    }

    @Override
    public String[] getEnabledProtocols() {
      return new String[] {"TLSv1.3"};
    }

    @Override
    public void setEnabledProtocols(String[] protocols) {}

    @Override
    public void beginHandshake() {}

    @Override
    public void setUseClientMode(boolean mode) {}

    @Override
    public boolean getUseClientMode() {
      return false;
    }

    @Override
    public void setNeedClientAuth(boolean need) {}

    @Override
    public boolean getNeedClientAuth() {
      return false;
    }

    @Override
    public void setWantClientAuth(boolean want) {}

    @Override
    public boolean getWantClientAuth() {
      return false;
    }

    @Override
    public void setEnableSessionCreation(boolean flag) {}

    @Override
    public boolean getEnableSessionCreation() {
      return true;
    }
  }
}
