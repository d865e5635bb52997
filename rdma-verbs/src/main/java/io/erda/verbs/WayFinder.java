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
    id.resolveAddr(null, to, Math.min(LOOK_MS, device.remainingMs(deadlineNs)));
  }

  /** Asks again after an event that says that the address was not found in time. */
  boolean goesOn(int event, int status) throws IOException {
    if (!isLooking()
        || event != CmEvents.ADDR_ERROR
        || status != -ETIMEDOUT
        || device.isPast(deadlineNs)) {
      return false;
    }
    look(destination);
    return true;
  }

  void found() {
    destination = null;
  }

  boolean isLooking() {
    return destination != null;
  }

  /** What is to be said when time is over. */
  static String notFound() {
    return CmEvents.text(CmEvents.ADDR_ERROR, -ETIMEDOUT);
  }
}
