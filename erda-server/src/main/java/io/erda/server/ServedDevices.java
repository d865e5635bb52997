package io.erda.server;

import io.erda.rdma.Device;
import java.util.List;

/**
 * The devices that one thread serves. It sleeps on the first of them, where all others wake it.
 * Owns them.
 */
final class ServedDevices implements AutoCloseable {
  private final Device first;
  private final List<Device> others;

  /**
   * @throws IllegalArgumentException when one of the others can't wake a thread that sleeps
   *     elsewhere
   */
  ServedDevices(Device first, List<? extends Device> others) {
    this.first = first;
    this.others = List.copyOf(others);
    for (Device other : others) {
      if (!other.forwardWakeups(first::wakeup)) {
        throw new IllegalArgumentException("no thread can sleep on " + first + " and " + other);
      }
    }
  }

  boolean await(long timeoutNs) {
    return first.await(timeoutNs);
  }

  void wakeup() {
    first.wakeup();
  }

  /** Says what the first device does: READs over the others end with the server. */
  boolean readsOutlivePeer() {
    return first.readsOutlivePeer();
  }

  /** Ends every connection but the first device's, before the memory that they READ goes. */
  void closeOthers() {
    others.forEach(Device::close);
  }

  @Override
  public void close() {
    first.close();
  }
}
