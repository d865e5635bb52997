package io.erda.verbs;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.function.LongSupplier;

/**
 * Finds the device that has a route to an address, by the connection manager. The kernel misses the
 * answer of a neighbour if the answer comes before the kernel has noted the waiting request, and
 * then finds the answer only at the end of the request's time-out. So this class makes several
 * requests with short time-outs.
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
   * @param remainingNs the time that is left; 0 or less when it is over
   */
  WayFinder(Resolver resolver, LongSupplier remainingNs) {
    this.resolver = resolver;
    this.remainingNs = remainingNs;
  }

  /**
   * Makes a request. The answer is an event of the connection manager.
   *
   * @throws IOException when the request is refused at once
   */
  void look(InetSocketAddress to) throws IOException {
    destination = to;
    lookedMs = Math.clamp(remainingNs.getAsLong() / NS_PER_MS, 1, LOOK_MS);
    resolver.resolve(to, lookedMs);
  }

  /**
   * Makes another request after an event that the address was not found in time, as long as there
   * is time left.
   *
   * @return false for any other event
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

  /** Whether no host has the address, after a request with the full time-out. */
  boolean isMissing() {
    return missing;
  }

  /** The message when time is over. */
  static String notFound() {
    return CmEvents.text(CmEvents.ADDR_ERROR, -ETIMEDOUT);
  }
}
