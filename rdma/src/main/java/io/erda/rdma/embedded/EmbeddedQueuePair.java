package io.erda.rdma.embedded;

import io.erda.pmem.FailedStoreException;
import io.erda.rdma.Status;
import io.erda.rdma.rings.QueueLayout;
import io.erda.rdma.rings.RemoteRegion;
import io.erda.rdma.rings.RingQueuePair;
import java.lang.foreign.MemorySegment;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/** One end of a connection inside a JVM. */
final class EmbeddedQueuePair extends RingQueuePair {
  private final EmbeddedDevice device;
  private final EmbeddedNetwork network;

  /**
   * The peer's device, which this end wakes. The responder knows it from the start, the requester
   * from its acceptance on.
   */
  private volatile EmbeddedDevice peer;

  /** The other end of a requester that was accepted. */
  private volatile EmbeddedQueuePair responder;

  /**
   * The action that the peer's thread runs when it has sent a message, in place of waking the
   * thread of this end; null when it wakes that thread. See {@link #onArrival}.
   */
  private volatile BooleanSupplier arrival;

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
      openOwnRegistry();
    }
  }

  EmbeddedDevice device() {
    return device;
  }

  void peer(EmbeddedDevice other) {
    peer = other;
  }

  void accepted(EmbeddedQueuePair by) {
    responder = by;
  }

  void unreachable() {
    unreachable = true;
  }

  @Override
  public RemoteRegion reach(long key, boolean toWrite) {
    return network.reach(key);
  }

  @Override
  public String describeLoss(RemoteRegion region) {
    return network.describeLoss(region.key());
  }

  @Override
  public FailedStoreException storeFailure(RemoteRegion region) {
    return network.storeFailure(region);
  }

  @Override
  protected boolean openRegistry(long registryId) {
    return true;
  }

  @Override
  protected void takeRings() {
    // A wake-up of this device leaves nothing that has to be taken.
  }

  @Override
  protected void ring() {
    EmbeddedQueuePair end = responder;
    BooleanSupplier action = end == null ? null : end.arrival;
    if (action != null && action.getAsBoolean()) {
      return;
    }
    EmbeddedDevice other = peer;
    if (other != null) {
      other.ring();
    }
  }

  @Override
  protected void checkPeer() {}

  @Override
  protected int advanceConnect() {
    if (!unreachable) {
      return Status.SUCCESS;
    }
    return network.isClosed() ? Status.CLOSED : Status.UNREACHABLE;
  }

  @Override
  public boolean onArrival(BooleanSupplier action) {
    arrival = action;
    return true;
  }

  @Override
  public String failure() {
    return network.whyClosed();
  }

  @Override
  public boolean await(long timeoutNs) {
    return device.await(timeoutNs);
  }

  @Override
  public String peer() {
    return "this process";
  }

  /** Whether the requester of this responder closed its end, after which it stores nothing. */
  boolean peerLeft() {
    return (long) QueueLayout.WORD.getAcquire(queue, QueueLayout.REQUESTER_STATE_OFFSET)
        != QueueLayout.OPEN;
  }

  /** Whether the connection of this requester was refused, so that nobody has the other end. */
  boolean isRefused() {
    return (long) QueueLayout.WORD.getAcquire(queue, QueueLayout.RESPONDER_STATE_OFFSET)
        == QueueLayout.REFUSED;
  }

  /** The device whose requester this responder was made for. */
  EmbeddedDevice requesterDevice() {
    return peer;
  }

  @Override
  protected void release() {
    device.forget(this);
  }
}
