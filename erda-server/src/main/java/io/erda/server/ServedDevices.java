package io.erda.server;

import io.erda.rdma.Device;
import java.util.List;

/**
 * The devices that one thread serves. It sleeps on the first of them; the others wake it there.
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

  /** Whether READs over the first device outlive the server; READs over the others never do. */
  boolean readsOutlivePeer() {
    return first.readsOutlivePeer();
  }

  /**
   * Ends every connection of the devices other than the first, before the memory that these READ is
   * closed.
   */
  void closeOthers() {
    others.forEach(Device::close);
  }

  @Override
  public void close() {
    first.close();
  }
}
