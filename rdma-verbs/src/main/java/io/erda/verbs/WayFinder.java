package io.erda.verbs;

import com.ibm.disni.verbs.RdmaCmId;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * Asks the connection manager which device has a way to an address. The kernel misses a neighbour
 * that answers while it is still noting down who waits for that answer, and finds it when the time
 * that it was given is over. So it is given little time, again and again.
 */
final class WayFinder {
  private static final int LOOK_MS = 250;
  private static final int ETIMEDOUT = 110;

  private final VerbsDevice device;
  private final RdmaCmId id;
  private final long deadlineNs;
  private InetSocketAddress destination;
  private int lookedMs;
  private boolean missing;

  WayFinder(VerbsDevice device, RdmaCmId id, long deadlineNs) {
    this.device = device;
    this.id = id;
    this.deadlineNs = deadlineNs;
  }

  /**
   * Asks. What comes of it is an event of the connection manager's.
   *
   * @throws IOException when it is refused at once
   */
  void look(InetSocketAddress to) throws IOException {
    destination = to;
    lookedMs = Math.min(LOOK_MS, device.remainingMs(deadlineNs));
    id.resolveAddr(null, to, lookedMs);
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
    if (!device.isPast(deadlineNs)) {
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
