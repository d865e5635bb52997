package io.erda.client.connections;

import io.erda.rdma.Claims;
import java.util.function.LongSupplier;

/**
 * The end of a session, as far as requests are concerned that were sent and not answered. Its
 * making takes back what the server has not taken; of what the server has in its hands the answer
 * is waited for, for a bounded time.
 */
final class Withdrawal {
  /** About how long a server that runs may take for what it has in its hands. */
  private static final long PATIENCE_NS = 200_000_000;

  private final Claims claims;
  private final LongSupplier nanoTime;
  private final long untilNs;

  Withdrawal(Claims claims, LongSupplier nanoTime) {
    this.claims = claims;
    this.nanoTime = nanoTime;
    claims.withdraw();
    this.untilNs = nanoTime.getAsLong() + PATIENCE_NS;
  }

  /** Whether the device knows what the server had taken; a cut network keeps that from it. */
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

  /** Whether an answer is still worth waiting for. */
  boolean isPatient() {
    return nanoTime.getAsLong() - untilNs < 0;
  }
}
