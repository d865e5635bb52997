package io.erda.server.engine.service;

import io.erda.protocol.Message;
import io.erda.protocol.Result;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Counts the server's answers by kind, and measures their times. It times every request for space,
 * and one in 61 puts and deletes, so that most do not read the clock. One thread.
 */
final class Answers {
  /** Odd, so that both kinds are timed in a load of alternating puts and deletes. */
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

  /** Notes that a request came. Returns the time, or 0 when the request is not timed. */
  long begun(int type) {
    boolean timed =
        switch (type) {
          case Message.LEASE -> true;
          case Message.PUBLISH, Message.ANNOUNCE, Message.ERASE -> isPutTimed();
          default -> false; // other requests are rare
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
   * Notes that a request is answered.
   *
   * @param flags the flags of a PUBLISH request; not used for other types
   * @param beganNs what {@link #begun} returned for the request
   */
  void answered(int type, int flags, int result, long beganNs) {
    counts.add(type, flags, result);
    if (beganNs != 0) {
      (type == Message.LEASE ? leases : puts).add(beganNs);
    }
  }

  /** Notes puts or deletes that were done without a request. */
  void done(int flags, long times) {
    counts.add(Message.PUBLISH, flags, Result.OK, times);
  }

  /** Adds the times. */
  void addTo(NamedFigures figures) {
    figures.add("requests.time.lease.p50.ns", () -> leases.permille(500));
    figures.add("requests.time.lease.p99.ns", () -> leases.permille(990));
    figures.add("requests.time.put.p50.ns", () -> puts.permille(500));
    figures.add("requests.time.put.p99.ns", () -> puts.permille(990));
  }

  /** Adds the current counts: see {@link RequestCounts#addTo}. */
  void addTo(Map<String, LongSupplier> all) {
    counts.addTo(all);
  }
}
