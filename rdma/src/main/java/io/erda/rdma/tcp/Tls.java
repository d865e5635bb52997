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
import java.security.PublicKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
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

  Tls(SSLContext context, boolean client) {
    this.context = context;
    this.client = client;
  }

  /**
   * For a server.
   *
   * @param certificates its certificate and those by which it is signed, PEM
   * @param key its private key, PKCS#8 in PEM
   * @throws IOException when a file can't be read or has the wrong content, or when users other
   *     than the owner may use the key's file; a group may read a key file of the superuser
   */
  public static Tls server(Path certificates, Path key) throws IOException {
    try {
      Certificate[] chain = certificates(certificates).toArray(Certificate[]::new);
      KeyStore store = emptyStore();
      PublicKey ofCertificate = chain[0].getPublicKey();
      PrivateKey ours = privateKey(key, ofCertificate.getAlgorithm());
      if (ours == null || !isPair(ours, ofCertificate)) {
        throw new IOException(
            key + " is not the private key of the (first) certificate in " + certificates);
      }
      store.setKeyEntry("server", ours, new char[0], chain);
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(store, new char[0]);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), null, null);
      return new Tls(context, false);
    } catch (GeneralSecurityException e) {
      throw new IOException(
          "no TLS with " + certificates + " and " + key + ": " + e.getMessage(), e);
    }
  }

  /**
   * For a client.
   *
   * @param authorities the authorities whose signatures it trusts, PEM; null: those that the JDK
   *     trusts
   * @throws IOException when the file can't be read or has the wrong content
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
      throw new IOException("no TLS with " + authorities + ": " + e.getMessage(), e);
    }
  }

  private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    return store;
  }

  private static Collection<? extends Certificate> certificates(Path file)
      throws GeneralSecurityException, IOException {
    SecretFile.requireRegular(file);
    ByteArrayInputStream bytes = new ByteArrayInputStream(Files.readAllBytes(file));
    Collection<? extends Certificate> all = List.of();
    CertificateException wrong = null;
    try {
      all = CertificateFactory.getInstance("X.509").generateCertificates(bytes);
    } catch (CertificateException e) {
      wrong = e;
    }
    if (all.isEmpty()) {
      throw new IOException(file + " holds no certificate (PEM)", wrong);
    }
    return all;
  }

  /** Returns the key in a file; null when it is no key of the algorithm. */
  private static PrivateKey privateKey(Path file, String algorithm)
      throws GeneralSecurityException, IOException {
    SecretFile.requireOwnersOrGroups(file);
    Matcher pem = PRIVATE_KEY.matcher(Files.readString(file, StandardCharsets.ISO_8859_1));
    if (!pem.find()) {
      throw new IOException(file + " holds no PRIVATE KEY (PKCS#8, PEM, without a password)");
    }
    try {
      byte[] bytes = Base64.getMimeDecoder().decode(pem.group(1));
      return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(bytes));
    } catch (InvalidKeySpecException | IllegalArgumentException e) {
      return null;
    }
  }

  /**
   * Whether the public key verifies a signature of the private key; true when the JDK can't try
   * that.
   */
  private static boolean isPair(PrivateKey ours, PublicKey theirs) throws GeneralSecurityException {
    String algorithm =
        switch (theirs.getAlgorithm()) {
          case "EC" -> "SHA256withECDSA";
          case "RSA" -> "SHA256withRSA";
          case "EdDSA" -> "EdDSA";
          default -> null;
        };
    if (algorithm == null) {
      return true;
    }
    byte[] text = {1, 2, 3};
    Signature signing = Signature.getInstance(algorithm);
    signing.initSign(ours);
    signing.update(text);
    byte[] signature = signing.sign();
    Signature verifying = Signature.getInstance(algorithm);
    verifying.initVerify(theirs);
    verifying.update(text);
    try {
      return verifying.verify(signature);
    } catch (SignatureException e) {
      // A signature of the other key would have another length.
      return false;
    }
  }

  /**
   * Encrypts a connection.
   *
   * @param host the host to which a client connects; null at a server
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
