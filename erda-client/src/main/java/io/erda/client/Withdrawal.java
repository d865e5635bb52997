package io.erda.client;

import io.erda.rdma.QueuePair;
import java.util.function.LongSupplier;

/**
 * The end of a session, as far as requests are concerned that were sent and not answered. Its
 * making takes back what the server has not taken; of what the server has in its hands the answer
 * is waited for, for a bounded time.
 */
final class Withdrawal {
  /** How long a server that runs may take for what it has in its hands, about. */
  private static final long PATIENCE_NS = 200_000_000;

  private final Session session;
  private final QueuePair queuePair;
  private final LongSupplier nanoTime;
  private final long untilNs;

  Withdrawal(Session session, LongSupplier nanoTime) {
    this.session = session;
    this.queuePair = session.queuePair;
    this.nanoTime = nanoTime;
    queuePair.withdraw();
    this.untilNs = nanoTime.getAsLong() + PATIENCE_NS;
  }

  boolean neverTaken(long message) {
    return message > queuePair.claimed();
  }

  /** Whether the server is through with a message that it took. */
  boolean isSettled(long message) {
    return message <= queuePair.settled();
  }

  /**
   * Whether more is to be known of the requests that wait for an answer.
   *
   * @param listening whether answers can still come and would be believed
   */
  boolean mayHearMore(boolean listening) {
    long newest = listening ? session.newestTaken() : 0;
    if (newest == 0) {
      return false;
    }
    // First what is settled, then what was answered: an answer is there before it is settled.
    boolean settled = isSettled(newest);
    session.poll();
    return !settled && session.newestTaken() != 0 && nanoTime.getAsLong() - untilNs < 0;
  }
}
