package io.erda.rdma.testing;

import io.erda.rdma.Claims;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Work;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Forwards to another queue pair, all but {@link #readNow}: who looks at READs sees every one of
 * them in {@link #post}.
 */
public abstract class ForwardingQueuePair implements QueuePair {
  private final QueuePair queuePair;

  /** Forwards to {@code queuePair}. */
  protected ForwardingQueuePair(QueuePair queuePair) {
    this.queuePair = Objects.requireNonNull(queuePair);
  }

  @Override
  public boolean post(Work work) {
    return queuePair.post(work);
  }

  @Override
  public boolean postReceive(long wrId, MemoryRegion local, long localOffset, int length) {
    return queuePair.postReceive(wrId, local, localOffset, length);
  }

  @Override
  public int poll(CompletionHandler handler, int limit) {
    return queuePair.poll(handler, limit);
  }

  @Override
  public boolean arm() {
    return queuePair.arm();
  }

  @Override
  public boolean await(long timeoutNs) {
    return queuePair.await(timeoutNs);
  }

  @Override
  public long grant(MemoryRegion region, long offset, long length) {
    return queuePair.grant(region, offset, length);
  }

  @Override
  public void revoke(long grantedKey) {
    queuePair.revoke(grantedKey);
  }

  @Override
  public void forget(long remoteKey) {
    queuePair.forget(remoteKey);
  }

  @Override
  public boolean isCurrent(long remoteKey) {
    return queuePair.isCurrent(remoteKey);
  }

  @Override
  public Claims claims() {
    return queuePair.claims();
  }

  @Override
  public boolean isMemoryLost() {
    return queuePair.isMemoryLost();
  }

  @Override
  public String unreached() {
    return queuePair.unreached();
  }

  @Override
  public String lostRegion() {
    return queuePair.lostRegion();
  }

  @Override
  public MemorySegment privateData() {
    return queuePair.privateData();
  }

  @Override
  public String peer() {
    return queuePair.peer();
  }

  @Override
  public String failure() {
    return queuePair.failure();
  }

  @Override
  public void close() {
    queuePair.close();
  }
}
