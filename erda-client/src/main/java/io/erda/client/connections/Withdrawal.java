package io.erda.client.connections;

import io.erda.rdma.Claims;
import java.util.function.LongSupplier;

/**
 * The end of a session for its requests that were sent and not answered. {@link #begin} takes back
 * the requests that the server has not taken. The client waits for the answers to the requests that
 * the server has taken, but only for a bounded time.
 *
 * <p>It is made together with its session, because a client often ends a session when it has no
 * memory left.
 */
final class Withdrawal {
  /** How long a running server may take to answer the requests that it has taken. */
  private static final long PATIENCE_NS = 200_000_000;

  private final Claims claims;
  private final LongSupplier nanoTime;
  private boolean begun;
  private long untilNs;

  Withdrawal(Claims claims, LongSupplier nanoTime) {
    this.claims = claims;
    this.nanoTime = nanoTime;
  }

  /** Takes back the requests that the server has not taken. Idempotent. */
  void begin() {
    if (!begun) {
      claims.withdraw();
      untilNs = nanoTime.getAsLong() + PATIENCE_NS;
      begun = true;
    }
  }

  /**
   * Whether the device knows which messages the server had taken; after a network failure it may
   * not.
   */
  boolean isAnswered() {
    return claims.claimed() != Long.MAX_VALUE;
  }

  boolean neverTaken(long message) {
    return message > claims.claimed();
  }

  /** Whether the server has finished with a message that it took. */
  boolean isFinished(long message) {
    return message <= claims.finished();
  }

  /** Whether the client still waits for answers; false after a bounded time. */
  boolean isPatient() {
    return nanoTime.getAsLong() - untilNs < 0;
  }
}
