package io.erda.rdma;

import java.lang.foreign.MemorySegment;
import java.util.function.LongSupplier;

/** One end of a connection inside a JVM. */
final class EmbeddedQueuePair extends RingQueuePair {
  private final EmbeddedDevice device;
  private final EmbeddedNetwork network;

  /**
   * Whom to wake: known to the responder from the start, to the requester once somebody accepted.
   */
  private volatile EmbeddedDevice peer;

  private boolean unreachable;

  EmbeddedQueuePair(
      EmbeddedDevice device,
      EmbeddedNetwork network,
      MemorySegment queue,
      boolean requester,
      long timeoutNs,
      LongSupplier nanoTime) {
    super(
        device,
        queue,
        requester,
        device.isCounted(),
        device.extraWriteLatencyNs(),
        timeoutNs,
        nanoTime);
    this.device = device;
    this.network = network;
    if (!requester) {
      registry(network.registry());
    }
  }

  EmbeddedDevice device() {
    return device;
  }

  void peer(EmbeddedDevice other) {
    peer = other;
  }

  void unreachable() {
    unreachable = true;
  }

  @Override
  RemoteRegion reach(long key, boolean toWrite) {
    return network.reach(key);
  }

  @Override
  String describeLoss(RemoteRegion region) {
    return network.describeLoss(region.key());
  }

  @Override
  MemorySegment openRegistry(long registryId) {
    return network.registry();
  }

  @Override
  void takeRings() {
    // Nothing stays behind.
  }

  @Override
  void ring() {
    EmbeddedDevice other = peer;
    if (other != null) {
      other.wakeup();
    }
  }

  @Override
  void checkPeer() {}

  @Override
  int advanceConnect() {
    return unreachable ? Status.UNREACHABLE : Status.SUCCESS;
  }

  @Override
  public boolean await(long timeoutNs) {
    return device.await(timeoutNs);
  }

  @Override
  public String peer() {
    return "this process";
  }

  /** Whether the requester of this responder closed its end: it stores nothing any more. */
  boolean peerLeft() {
    return (long) QueueLayout.WORD.getAcquire(queue, QueueLayout.REQUESTER_STATE_OFFSET)
        != QueueLayout.OPEN;
  }

  @Override
  void release() {
    device.forget(this);
  }
}
