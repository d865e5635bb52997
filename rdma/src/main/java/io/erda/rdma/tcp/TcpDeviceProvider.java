package io.erda.rdma.tcp;

import io.erda.rdma.Device;
import io.erda.rdma.DeviceProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Devices of {@code erda:}. Parameters name files: {@value #SECRET_FILE}; a client's {@value
 * #TLS_CA}, or {@value #TLS} for the authorities that the JDK trusts; a server's {@value #TLS_CERT}
 * and {@value #TLS_KEY}.
 */
public final class TcpDeviceProvider implements DeviceProvider {
  public static final String SECRET_FILE = "secret-file";
  public static final String TLS = "tls";
  public static final String TLS_CA = "tls-ca";
  public static final String TLS_CERT = "tls-cert";
  public static final String TLS_KEY = "tls-key";

  @Override
  public String scheme() {
    return "erda";
  }

  @Override
  public List<String> hosts() {
    return List.of("127.0.0.1");
  }

  @Override
  public Device connecting(Settings settings) throws IOException {
    settings.requireAmong(SECRET_FILE, TLS_CA, TLS);
    String authorities = settings.parameters().get(TLS_CA);
    boolean encrypted = authorities != null || settings.parameters().containsKey(TLS);
    TcpOptions options = withSecret(settings);
    return TcpClientDevice.open(
        encrypted
            ? options.withTls(Tls.client(authorities == null ? null : Path.of(authorities)))
            : options);
  }

  @Override
  public Device serving(Settings settings) throws IOException {
    settings.requireAmong(SECRET_FILE, TLS_CERT, TLS_KEY);
    String certificate = settings.parameters().get(TLS_CERT);
    String key = settings.parameters().get(TLS_KEY);
    if ((certificate == null) != (key == null)) {
      throw new IOException("TLS takes a certificate and its private key, both");
    }
    TcpOptions options = withSecret(settings);
    return TcpServerDevice.open(
        certificate == null
            ? options
            : options.withTls(Tls.server(Path.of(certificate), Path.of(key))),
        settings.counted(),
        settings.extraWriteLatencyNs());
  }

  private static TcpOptions withSecret(Settings settings) throws IOException {
    TcpOptions options = TcpOptions.of(settings.nanoTime(), settings.random().get());
    String file = settings.parameters().get(SECRET_FILE);
    return file == null ? options : options.withSecret(Secret.read(Path.of(file)));
  }
}
