package io.erda.simulation;

import io.erda.rdma.Device;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** Turns each post of a queue pair into {@link Work}, when it names memory of its own device. */
abstract class CheckedPosts implements QueuePair {
  private final Device device;
  private final int messageBytesMax;

  CheckedPosts(Device device, int messageBytesMax) {
    this.device = device;
    this.messageBytesMax = messageBytesMax;
  }

  /** Returns false when there is no room. */
  abstract boolean post(Work work);

  @Override
  public final boolean postRead(
      long wrId,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      int length,
      int flags) {
    return post(
        work(wrId, Opcode.READ, local, localOffset, remoteKey, remoteOffset, length, flags));
  }

  @Override
  public final boolean postWrite(
      long wrId,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      int length,
      int flags) {
    return post(
        work(wrId, Opcode.WRITE, local, localOffset, remoteKey, remoteOffset, length, flags));
  }

  @Override
  public final boolean postWriteImm(
      long wrId,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      int length,
      int imm,
      int flags) {
    Work work =
        work(wrId, Opcode.WRITE_IMM, local, localOffset, remoteKey, remoteOffset, length, flags);
    work.imm = imm;
    return post(work);
  }

  @Override
  public final boolean postSend(
      long wrId, MemoryRegion local, long localOffset, int length, int flags) {
    if (length > messageBytesMax) {
      throw new IllegalArgumentException(
          "message of " + length + " bytes; at most " + messageBytesMax);
    }
    return post(work(wrId, Opcode.SEND, local, localOffset, 0, 0, length, flags));
  }

  @Override
  public final boolean postFlush(
      long wrId, long remoteKey, long remoteOffset, int length, int flags) {
    return post(new Work(wrId, Opcode.FLUSH, null, 0, remoteKey, remoteOffset, length, flags));
  }

  @Override
  public final boolean postAtomicWrite(
      long wrId, long remoteKey, long remoteOffset, long value, int flags) {
    Work work =
        new Work(wrId, Opcode.ATOMIC_WRITE, null, 0, remoteKey, remoteOffset, Long.BYTES, flags);
    work.value = value;
    return post(work);
  }

  @Override
  public final boolean postCompareAndSwap(
      long wrId,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      long expected,
      long value,
      int flags) {
    int opcode = Opcode.COMPARE_AND_SWAP;
    Work work = work(wrId, opcode, local, localOffset, remoteKey, remoteOffset, Long.BYTES, flags);
    work.expected = expected;
    work.value = value;
    return post(work);
  }

  /** Work with local memory. */
  final Work work(
      long wrId,
      int opcode,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      int length,
      int flags) {
    MemorySegment memory = check(local, localOffset, length);
    return new Work(wrId, opcode, memory, localOffset, remoteKey, remoteOffset, length, flags);
  }

  /** The memory of a region of this device, in which the stretch must lie. */
  final MemorySegment check(MemoryRegion local, long offset, int length) {
    MemorySegment memory = SimulatedRegion.own(local, device).memory();
    Objects.checkFromIndexSize(offset, length, memory.byteSize());
    return memory;
  }
}
