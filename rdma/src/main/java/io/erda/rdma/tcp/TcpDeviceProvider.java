package io.erda.rdma.tcp;

import io.erda.rdma.Device;
import io.erda.rdma.DeviceProvider;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
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
    Path authorities = file(settings, TLS_CA);
    boolean encrypted = authorities != null || settings.parameters().containsKey(TLS);
    TcpOptions options = withSecret(settings);
    return TcpClientDevice.open(encrypted ? options.withTls(Tls.client(authorities)) : options);
  }

  @Override
  public Device serving(Settings settings) throws IOException {
    settings.requireAmong(SECRET_FILE, TLS_CERT, TLS_KEY);
    Path certificate = file(settings, TLS_CERT);
    Path key = file(settings, TLS_KEY);
    if ((certificate == null) != (key == null)) {
      throw new IOException("TLS takes a certificate and its private key, both");
    }
    TcpOptions options = withSecret(settings);
    return TcpServerDevice.open(
        certificate == null ? options : options.withTls(Tls.server(certificate, key)),
        settings.counted(),
        settings.extraWriteLatencyNs());
  }

  private static TcpOptions withSecret(Settings settings) throws IOException {
    TcpOptions options = TcpOptions.of(settings.nanoTime(), settings.random().get());
    Path file = file(settings, SECRET_FILE);
    return file == null ? options : options.withSecret(Secret.read(file));
  }

  /**
   * Returns the file that a parameter names; null when the parameter is missing.
   *
   * @throws IOException when there is no such file, or it can't be read; the message names file and
   *     parameter
   */
  private static Path file(Settings settings, String parameter) throws IOException {
    String name = settings.parameters().get(parameter);
    if (name == null) {
      return null;
    }
    if (name.isEmpty()) {
      throw new IOException(parameter + " names no file");
    }
    Path file = Path.of(name);
    try {
      if (Files.readAttributes(file, BasicFileAttributes.class).isDirectory()) {
        throw new IOException(parameter + " names a directory, and no file: " + file);
      }
      if (!Files.isReadable(file)) {
        throw new AccessDeniedException(name);
      }
      return file;
    } catch (NoSuchFileException e) {
      throw new IOException(parameter + " names a file that is not there: " + file, e);
    } catch (AccessDeniedException e) {
      throw new IOException(parameter + " names a file that this user may not read: " + file, e);
    }
  }
}
