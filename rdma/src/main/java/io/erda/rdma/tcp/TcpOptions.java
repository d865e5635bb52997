package io.erda.rdma.tcp;

import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * The options of a tcp device, with its clock and its source of randomness.
 *
 * @param nanoTime a monotonic clock
 * @param random makes nonces; must be unpredictable when there is a secret
 * @param secret the secret that both ends must prove; null: none
 * @param tls the encryption; null: none
 * @param handshake the time after which a peer that has not connected is dropped
 * @param handshakesMax the most peers that may be connecting at a time; further peers replace the
 *     oldest
 */
public record TcpOptions(
    LongSupplier nanoTime,
    RandomGenerator random,
    Secret secret,
    Tls tls,
    Duration handshake,
    int handshakesMax) {
  private static final Duration HANDSHAKE = Duration.ofSeconds(10);
  private static final int HANDSHAKES_MAX = 64;

  /** Returns options without secret and TLS. */
  public static TcpOptions of(LongSupplier nanoTime, RandomGenerator random) {
    return new TcpOptions(nanoTime, random, null, null, HANDSHAKE, HANDSHAKES_MAX);
  }

  /** Returns these options with a secret. */
  public TcpOptions withSecret(Secret value) {
    return new TcpOptions(nanoTime, random, value, tls, handshake, handshakesMax);
  }

  /** Returns these options with encryption. */
  public TcpOptions withTls(Tls value) {
    return new TcpOptions(nanoTime, random, secret, value, handshake, handshakesMax);
  }

  /** Returns these options with other bounds for peers that are connecting. */
  public TcpOptions withHandshakes(Duration time, int max) {
    return new TcpOptions(nanoTime, random, secret, tls, time, max);
  }

  byte[] nonce() {
    byte[] nonce = new byte[Hello.NONCE_BYTES];
    random.nextBytes(nonce);
    return nonce;
  }
}
