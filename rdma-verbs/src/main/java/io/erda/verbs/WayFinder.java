package io.erda.verbs;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.function.LongSupplier;

/**
 * Asks the connection manager which device has a way to an address. The kernel misses a neighbour
 * that answers while it is still noting down who waits for that answer, and finds it when the time
 * that it was given is over. So it is given little time, again and again.
 */
final class WayFinder {
  static final int LOOK_MS = 250;
  static final int ETIMEDOUT = 110;
  private static final long NS_PER_MS = 1_000_000;

  private final Resolver resolver;
  private final LongSupplier remainingNs;
  private InetSocketAddress destination;
  private int lookedMs;
  private boolean missing;

  /** {@code rdma_resolve_addr}, whose answer is an event. */
  interface Resolver {
    void resolve(InetSocketAddress destination, int timeoutMs) throws IOException;
  }

  /**
   * @param remainingNs how much time there is yet; 0 or less when it is over
   */
  WayFinder(Resolver resolver, LongSupplier remainingNs) {
    this.resolver = resolver;
    this.remainingNs = remainingNs;
  }

  /**
   * Asks. What comes of it is an event of the connection manager's.
   *
   * @throws IOException when it is refused at once
   */
  void look(InetSocketAddress to) throws IOException {
    destination = to;
    lookedMs = Math.clamp(remainingNs.getAsLong() / NS_PER_MS, 1, LOOK_MS);
    resolver.resolve(to, lookedMs);
  }

  /**
   * Asks again after an event that says that the address was not found in time, as long as there is
   * time.
   *
   * @return false when the event says something else
   */
  boolean goesOn(int event, int status) throws IOException {
    if (destination == null || event != CmEvents.ADDR_ERROR || status != -ETIMEDOUT) {
      return false;
    }
    missing |= lookedMs == LOOK_MS;
    if (remainingNs.getAsLong() > 0) {
      look(destination);
    }
    return true;
  }

  void found() {
    destination = null;
    missing = false;
  }

  /** Whether nobody has the address: it was asked for long enough. */
  boolean isMissing() {
    return missing;
  }

  /** What is to be said when time is over. */
  static String notFound() {
    return CmEvents.text(CmEvents.ADDR_ERROR, -ETIMEDOUT);
  }
}
