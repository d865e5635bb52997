package io.erda.rdma.tcp;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;

/** TLS 1.3 by the JDK: a server shows its certificate, a client checks it and the host's name. */
public final class Tls {
  private static final String[] PROTOCOLS = {"TLSv1.3"};
  private static final Pattern PRIVATE_KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([^-]*)-----END PRIVATE KEY-----");

  private final SSLContext context;
  private final boolean client;

  private Tls(SSLContext context, boolean client) {
    this.context = context;
    this.client = client;
  }

  /**
   * For a server.
   *
   * @param certificates its certificate and those that it is signed with, PEM
   * @param key its private key, PKCS#8 in PEM
   * @throws IOException when a file can't be read, or is not what it should be, or when others than
   *     the key's owner may use it; a group may read one of the superuser's
   */
  public static Tls server(Path certificates, Path key) throws IOException {
    try {
      Certificate[] chain = certificates(certificates).toArray(Certificate[]::new);
      KeyStore store = emptyStore();
      store.setKeyEntry("server", privateKey(key, chain[0]), new char[0], chain);
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(store, new char[0]);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), null, null);
      return new Tls(context, false);
    } catch (GeneralSecurityException e) {
      throw new IOException(
          "no certificate and key for TLS in " + certificates + " and " + key + ": " + e, e);
    }
  }

  /**
   * For a client.
   *
   * @param authorities whose signatures it trusts, PEM; null: those that the JDK trusts
   * @throws IOException when the file can't be read, or is not what it should be
   */
  public static Tls client(Path authorities) throws IOException {
    try {
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      KeyStore store = null;
      if (authorities != null) {
        store = emptyStore();
        int number = 0;
        for (Certificate each : certificates(authorities)) {
          store.setCertificateEntry("authority-" + number++, each);
        }
      }
      trust.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return new Tls(context, true);
    } catch (GeneralSecurityException e) {
      throw new IOException("no certificates to trust in " + authorities + ": " + e, e);
    }
  }

  private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    return store;
  }

  private static Collection<? extends Certificate> certificates(Path file)
      throws GeneralSecurityException, IOException {
    Collection<? extends Certificate> all =
        CertificateFactory.getInstance("X.509")
            .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(file)));
    if (all.isEmpty()) {
      throw new IOException(file + " holds no certificate (PEM)");
    }
    return all;
  }

  private static PrivateKey privateKey(Path file, Certificate of)
      throws GeneralSecurityException, IOException {
    SecretFile.requireOwnersOrGroups(file);
    Matcher pem = PRIVATE_KEY.matcher(Files.readString(file, StandardCharsets.US_ASCII));
    if (!pem.find()) {
      throw new IOException(file + " holds no PRIVATE KEY (PKCS#8, PEM)");
    }
    byte[] bytes = Base64.getMimeDecoder().decode(pem.group(1));
    return KeyFactory.getInstance(of.getPublicKey().getAlgorithm())
        .generatePrivate(new PKCS8EncodedKeySpec(bytes));
  }

  /**
   * Encrypts a connection.
   *
   * @param host that a client asked for; null at a server
   */
  Transport wrap(SocketChannel channel, String host, int port) {
    SSLEngine engine = client ? context.createSSLEngine(host, port) : context.createSSLEngine();
    engine.setUseClientMode(client);
    SSLParameters parameters = engine.getSSLParameters();
    parameters.setProtocols(PROTOCOLS);
    if (client) {
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
    }
    engine.setSSLParameters(parameters);
    return new TlsTransport(channel, engine);
  }
}
