package io.erda.rdma.tcp;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A secret that both ends of a connection know, and prove to each other without sending it:
 * HMAC-SHA256 over both nonces, the binding to the TLS connection, and the private data. Since each
 * end adds a fresh nonce, a proof of one handshake is of no use in another.
 */
public final class Secret {
  /** The least length. A shorter secret could be guessed from one recorded handshake. */
  public static final int BYTES_MIN = 16;

  private static final int FILE_BYTES_MAX = 4096;
  private static final String ALGORITHM = "HmacSHA256";

  /**
   * The end that makes a proof. It is part of the proof, so that an end can't send back the other
   * end's proof as its own.
   */
  enum Prover {
    CLIENT("erda tcp client 1"),
    SERVER("erda tcp server 1");

    private final String label;

    Prover(String label) {
      this.label = label;
    }

    byte[] label() {
      return label.getBytes(StandardCharsets.US_ASCII);
    }
  }

  private final SecretKeySpec key;

  /**
   * Makes a secret of at least {@value #BYTES_MIN} bytes.
   *
   * @throws IllegalArgumentException when it is shorter
   */
  public Secret(byte[] bytes) {
    if (bytes.length < BYTES_MIN) {
      throw new IllegalArgumentException(
          "a secret of " + bytes.length + " bytes; at least " + BYTES_MIN + " are needed");
    }
    this.key = new SecretKeySpec(bytes, ALGORITHM);
  }

  /**
   * Reads the secret in a file: the bytes of the file without line ends at its end.
   *
   * @throws IOException when the file can't be read, is too short, or may be read by others than
   *     its owner
   */
  public static Secret read(Path file) throws IOException {
    if (Files.size(file) > FILE_BYTES_MAX) {
      throw new IOException(file + " is longer than " + FILE_BYTES_MAX + " bytes: no secret");
    }
    SecretFile.requireOwnersAlone(file);
    byte[] bytes = Files.readAllBytes(file);
    int length = bytes.length;
    while (length > 0 && (bytes[length - 1] == '\n' || bytes[length - 1] == '\r')) {
      length--;
    }
    if (length < BYTES_MIN) {
      throw new IOException(
          file + " holds " + length + " bytes; a secret has at least " + BYTES_MIN);
    }
    return new Secret(Arrays.copyOf(bytes, length));
  }

  byte[] proof(
      Prover prover,
      byte[] clientNonce,
      byte[] serverNonce,
      byte[] binding,
      MemorySegment privateData) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      mac.update(prover.label());
      mac.update(clientNonce);
      mac.update(serverNonce);
      // The length comes first, so that no part of the binding can be taken for private data.
      mac.update((byte) binding.length);
      mac.update(binding);
      mac.update(privateData.toArray(ValueLayout.JAVA_BYTE));
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has " + ALGORITHM, e);
    }
  }

  /** Compares two proofs in a time that does not depend on the place of the first difference. */
  static boolean same(byte[] expected, byte[] said) {
    return MessageDigest.isEqual(expected, said);
  }
}
