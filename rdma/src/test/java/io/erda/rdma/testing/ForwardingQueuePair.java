package io.erda.rdma.testing;

import io.erda.rdma.CompletionHandler;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.QueuePair;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Forwards to another queue pair, all but {@link #readNow}: who looks at READs sees every one of
 * them in {@link #postRead}.
 */
public abstract class ForwardingQueuePair implements QueuePair {
  private final QueuePair queuePair;

  /** Forwards to {@code queuePair}. */
  protected ForwardingQueuePair(QueuePair queuePair) {
    this.queuePair = Objects.requireNonNull(queuePair);
  }

  @Override
  public boolean postRead(
      long wrId,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      int length,
      int flags) {
    return queuePair.postRead(wrId, local, localOffset, remoteKey, remoteOffset, length, flags);
  }

  @Override
  public boolean postWrite(
      long wrId,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      int length,
      int flags) {
    return queuePair.postWrite(wrId, local, localOffset, remoteKey, remoteOffset, length, flags);
  }

  @Override
  public boolean postWriteImm(
      long wrId,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      int length,
      int imm,
      int flags) {
    return queuePair.postWriteImm(
        wrId, local, localOffset, remoteKey, remoteOffset, length, imm, flags);
  }

  @Override
  public boolean postSend(long wrId, MemoryRegion local, long localOffset, int length, int flags) {
    return queuePair.postSend(wrId, local, localOffset, length, flags);
  }

  @Override
  public boolean postReceive(long wrId, MemoryRegion local, long localOffset, int length) {
    return queuePair.postReceive(wrId, local, localOffset, length);
  }

  @Override
  public boolean postFlush(long wrId, long remoteKey, long remoteOffset, int length, int flags) {
    return queuePair.postFlush(wrId, remoteKey, remoteOffset, length, flags);
  }

  @Override
  public boolean postAtomicWrite(
      long wrId, long remoteKey, long remoteOffset, long value, int flags) {
    return queuePair.postAtomicWrite(wrId, remoteKey, remoteOffset, value, flags);
  }

  @Override
  public boolean postCompareAndSwap(
      long wrId,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      long expected,
      long value,
      int flags) {
    return queuePair.postCompareAndSwap(
        wrId, local, localOffset, remoteKey, remoteOffset, expected, value, flags);
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
  public long sent() {
    return queuePair.sent();
  }

  @Override
  public boolean claim() {
    return queuePair.claim();
  }

  @Override
  public boolean isPeerThere() {
    return queuePair.isPeerThere();
  }

  @Override
  public void settle() {
    queuePair.settle();
  }

  @Override
  public void withdraw() {
    queuePair.withdraw();
  }

  @Override
  public long claimed() {
    return queuePair.claimed();
  }

  @Override
  public long settled() {
    return queuePair.settled();
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
