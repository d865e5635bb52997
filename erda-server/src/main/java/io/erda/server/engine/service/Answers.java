package io.erda.server.engine.service;

import io.erda.protocol.Message;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * What the server answers: how much of which kind, and how long that took. It times every request
 * for space, and of puts and deletes one in 61, so that a put costs no look at the clock. One
 * thread.
 */
final class Answers {
  /** Odd, so that of loads that go put, delete, put, delete both kinds are timed. */
  private static final int TIMED_ONE_IN = 61;

  private final LongSupplier nanoTime;
  private final RequestCounts counts = new RequestCounts();
  private final AnswerTimes leases;
  private final AnswerTimes puts;
  private int untimed;

  Answers(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.leases = new AnswerTimes(nanoTime);
    this.puts = new AnswerTimes(nanoTime);
  }

  /** A request of the type has come. Returns when that was, or 0 where it is not timed. */
  long begun(int type) {
    boolean timed =
        switch (type) {
          case Message.LEASE -> true;
          case Message.PUBLISH, Message.ANNOUNCE, Message.ERASE -> isPutTimed();
          default -> false; // nobody waits for the others often
        };
    return timed ? nanoTime.getAsLong() | 1 : 0;
  }

  private boolean isPutTimed() {
    if (untimed-- > 0) {
      return false;
    }
    untimed = TIMED_ONE_IN - 1;
    return true;
  }

  /**
   * A request is answered.
   *
   * @param flags of a PUBLISH; of others anything
   * @param beganNs what {@link #begun} returned of a request of this type
   */
  void answered(int type, int flags, int result, long beganNs) {
    counts.add(type, flags, result);
    if (beganNs != 0) {
      (type == Message.LEASE ? leases : puts).add(beganNs);
    }
  }

  /** Adds the times. */
  void addTo(Figures figures) {
    figures.add("requests.time.lease.p50.ns", () -> leases.permille(500));
    figures.add("requests.time.lease.p99.ns", () -> leases.permille(990));
    figures.add("requests.time.put.p50.ns", () -> puts.permille(500));
    figures.add("requests.time.put.p99.ns", () -> puts.permille(990));
  }

  /** Adds the numbers that are there: see {@link RequestCounts#addTo}. */
  void addTo(Map<String, LongSupplier> all) {
    counts.addTo(all);
  }
}
