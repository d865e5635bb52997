package io.erda.server;

import io.erda.rdma.Device;
import java.util.List;

/**
 * The devices that one thread serves. The thread sleeps on the first device; the other devices wake
 * it there. Owns the devices.
 */
final class ServedDevices implements AutoCloseable {
  private final Device first;
  private final List<Device> others;

  /**
   * @throws IllegalArgumentException when one of the others can't wake a thread that sleeps on
   *     another device
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
   * Ends every connection of all devices but the first. Called before the memory is closed that
   * clients READ over these devices.
   */
  void closeOthers() {
    others.forEach(Device::close);
  }

  @Override
  public void close() {
    first.close();
  }
}
