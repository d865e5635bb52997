package io.erda.rdma.tcp;

import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * The options of a tcp device, with its clock and its source of randomness.
 *
 * @param nanoTime a monotonic clock
 * @param random makes nonces: unpredictable where there is a secret
 * @param secret that both ends must prove; null: none
 * @param tls null: no encryption
 * @param handshake a peer that has not connected after so long is dropped
 * @param handshakesMax peers that may be connecting at a time; the oldest makes room
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

  /** Without secret and TLS. */
  public static TcpOptions of(LongSupplier nanoTime, RandomGenerator random) {
    return new TcpOptions(nanoTime, random, null, null, HANDSHAKE, HANDSHAKES_MAX);
  }

  /** The same, with a secret. */
  public TcpOptions withSecret(Secret value) {
    return new TcpOptions(nanoTime, random, value, tls, handshake, handshakesMax);
  }

  /** The same, encrypted. */
  public TcpOptions withTls(Tls value) {
    return new TcpOptions(nanoTime, random, secret, value, handshake, handshakesMax);
  }

  /** The same, with other bounds for peers that are connecting. */
  public TcpOptions withHandshakes(Duration time, int max) {
    return new TcpOptions(nanoTime, random, secret, tls, time, max);
  }

  byte[] nonce() {
    byte[] nonce = new byte[Hello.NONCE_BYTES];
    random.nextBytes(nonce);
    return nonce;
  }
}
