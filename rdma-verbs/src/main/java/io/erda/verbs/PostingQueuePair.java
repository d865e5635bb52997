package io.erda.verbs;

import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import java.io.IOException;

/**
 * The half of a queue pair that callers post to: it looks at what they pass, and hands it to {@link
 * Outgoing} and {@link Receives}.
 */
abstract class PostingQueuePair implements QueuePair {
  final VerbsDevice device;
  final Accounts accounts = new Accounts();
  final Outgoing outgoing = new Outgoing(this, accounts);
  final Receives receives = new Receives();

  PostingQueuePair(VerbsDevice device) {
    this.device = device;
  }

  /**
   * Whether so many works can be posted now.
   *
   * @throws IllegalStateException when the queue pair is closed
   */
  abstract boolean mayPost(int count);

  /** Throws when the queue pair is closed. */
  abstract void requireOpen();

  /** Whether what is posted goes out. */
  abstract boolean isConnected();

  /** Whether what was posted before goes out. */
  abstract boolean mayStart();

  /** A call of this end's failed: the connection is over. */
  abstract void failed(IOException why);

  @Override
  public boolean postRead(
      long wrId,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      int length,
      int flags) {
    VerbsRegion region = VerbsRegion.of(local, device, localOffset, length);
    if (!mayPost(1)) {
      return false;
    }
    outgoing.read(wrId, region, localOffset, remoteKey, remoteOffset, length, flags);
    return true;
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
    VerbsRegion region = VerbsRegion.of(local, device, localOffset, length);
    if (!mayPost(1)) {
      return false;
    }
    outgoing.write(wrId, region, localOffset, remoteKey, remoteOffset, length, flags);
    return true;
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
    VerbsRegion region = VerbsRegion.of(local, device, localOffset, length);
    if (!mayPost(2) || !outgoing.maySend()) {
      return false;
    }
    outgoing.writeImm(wrId, region, localOffset, remoteKey, remoteOffset, length, imm, flags);
    return true;
  }

  @Override
  public boolean postSend(long wrId, MemoryRegion local, long localOffset, int length, int flags) {
    if (length > MessageQueue.MESSAGE_BYTES_MAX) {
      throw new IllegalArgumentException(
          "a message of " + length + " bytes; at most " + MessageQueue.MESSAGE_BYTES_MAX);
    }
    VerbsRegion region = VerbsRegion.of(local, device, localOffset, length);
    if (!mayPost(1) || !outgoing.maySend()) {
      return false;
    }
    outgoing.send(wrId, region, localOffset, length, flags);
    return true;
  }

  @Override
  public boolean postReceive(long wrId, MemoryRegion local, long localOffset, int length) {
    VerbsRegion region = VerbsRegion.of(local, device, localOffset, length);
    requireOpen();
    return receives.add(wrId, region, localOffset, length);
  }

  @Override
  public boolean postFlush(long wrId, long remoteKey, long remoteOffset, int length, int flags) {
    if (!mayPost(1)) {
      return false;
    }
    if (device.flushes()) {
      outgoing.flush(wrId, remoteKey, remoteOffset, length, flags);
    } else {
      outgoing.unsupported(wrId, Opcode.FLUSH, flags, length);
    }
    return true;
  }

  @Override
  public boolean postAtomicWrite(
      long wrId, long remoteKey, long remoteOffset, long value, int flags) {
    if (!mayPost(1)) {
      return false;
    }
    outgoing.atomicWrite(wrId, remoteKey, remoteOffset, value, flags);
    return true;
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
    VerbsRegion region = VerbsRegion.of(local, device, localOffset, 8);
    if (!mayPost(1)) {
      return false;
    }
    outgoing.compareAndSwap(
        wrId, region, localOffset, remoteKey, remoteOffset, expected, value, flags);
    return true;
  }
}
