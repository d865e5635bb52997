package io.erda.rdma.testing;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A certificate that signs itself, and its key, in PEM: made by the JDK's keytool. */
public record Certificates(Path certificate, Path key) {
  private static final String PASSWORD = "not a secret";

  /** Makes both in a directory, for a host such as {@code ip:127.0.0.1}. */
  public static Certificates make(Path directory, String name, String host) throws Exception {
    Path store = directory.resolve(name + ".p12");
    Process keytool =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                    "-J-XX:TieredStopAtLevel=1",
                    "-genkeypair",
                    "-alias",
                    "server",
                    "-keyalg",
                    "EC",
                    "-groupname",
                    "secp256r1",
                    "-dname",
                    "CN=" + name,
                    "-ext",
                    "san=" + host,
                    "-validity",
                    "2",
                    "-storetype",
                    "PKCS12",
                    "-storepass",
                    PASSWORD,
                    "-keystore",
                    store.toString()))
            .redirectErrorStream(true)
            .start();
    String said = new String(keytool.getInputStream().readAllBytes());
    if (!keytool.waitFor(60, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
      throw new IOException("keytool: " + said);
    }
    return new Certificates(
        pem(directory.resolve(name + ".crt"), "CERTIFICATE", load(store, false)),
        pem(directory.resolve(name + ".key"), "PRIVATE KEY", load(store, true)));
  }

  private static byte[] load(Path file, boolean key) throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, PASSWORD.toCharArray());
    }
    return key
        ? store.getKey("server", PASSWORD.toCharArray()).getEncoded()
        : store.getCertificate("server").getEncoded();
  }

  private static Path pem(Path file, String what, byte[] bytes) throws IOException {
    Files.createFile(
        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    return Files.writeString(
        file,
        "-----BEGIN %s-----\n%s\n-----END %s-----\n"
            .formatted(what, Base64.getMimeEncoder().encodeToString(bytes), what));
  }
}
