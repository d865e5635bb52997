package io.erda.client;

import io.erda.pmem.Backing;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.Device;
import io.erda.rdma.DeviceStatistics;
import io.erda.rdma.Listener;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;

/** A device whose posts a test can watch, refuse, or let fail. */
final class HookedDevice implements Device {
  /** What happens before a post. */
  interface Hook {
    /**
     * @return {@link #GO}, {@link #REFUSE}, or a status of {@link Status} that it completes with
     */
    int before(int opcode, long remoteKey, long remoteOffset, int length);
  }

  static final int GO = -1;
  static final int REFUSE = -2;

  private final Device device;
  Hook hook = (opcode, key, offset, length) -> GO;
  boolean outlives;
  HookedQueuePair last;

  HookedDevice(Device device) {
    this.device = device;
  }

  @Override
  public MemoryRegion register(MemorySegment memory, Backing backing, int access) {
    return device.register(memory, backing, access);
  }

  @Override
  public void deregister(MemoryRegion region) {
    device.deregister(region);
  }

  @Override
  public Listener listen(String address) {
    throw new UnsupportedOperationException();
  }

  @Override
  public QueuePair connect(String address, MemorySegment privateData, Duration timeout) {
    return last = new HookedQueuePair(device.connect(address, privateData, timeout));
  }

  @Override
  public int messageBytesMax() {
    return device.messageBytesMax();
  }

  @Override
  public boolean readsOutlivePeer() {
    return outlives || device.readsOutlivePeer();
  }

  @Override
  public boolean await(long timeoutNs) {
    return device.await(timeoutNs);
  }

  @Override
  public void wakeup() {
    device.wakeup();
  }

  @Override
  public DeviceStatistics statistics() {
    return device.statistics();
  }

  @Override
  public void close() {
    device.close();
  }

  /** Reports made-up completions before real ones. */
  final class HookedQueuePair implements QueuePair {
    private record Made(long wrId, int opcode, int status) {}

    private final QueuePair queuePair;
    private final ArrayDeque<Made> made = new ArrayDeque<>();
    boolean closed;

    HookedQueuePair(QueuePair queuePair) {
      this.queuePair = queuePair;
    }

    void complete(long wrId, int opcode, int status) {
      made.add(new Made(wrId, opcode, status));
    }

    private boolean handled(int decision, long wrId, int opcode) {
      if (decision >= 0) {
        complete(wrId, opcode, decision);
      }
      return decision != GO;
    }

    @Override
    public boolean postRead(
        long wrId,
        MemoryRegion local,
        long localOffset,
        long key,
        long offset,
        int length,
        int flags) {
      int decision = hook.before(Opcode.READ, key, offset, length);
      return handled(decision, wrId, Opcode.READ)
          ? decision != REFUSE
          : queuePair.postRead(wrId, local, localOffset, key, offset, length, flags);
    }

    @Override
    public boolean postWrite(
        long wrId,
        MemoryRegion local,
        long localOffset,
        long key,
        long offset,
        int length,
        int flags) {
      int decision = hook.before(Opcode.WRITE, key, offset, length);
      return handled(decision, wrId, Opcode.WRITE)
          ? decision != REFUSE
          : queuePair.postWrite(wrId, local, localOffset, key, offset, length, flags);
    }

    @Override
    public boolean postSend(
        long wrId, MemoryRegion local, long localOffset, int length, int flags) {
      int decision = hook.before(Opcode.SEND, 0, 0, length);
      return handled(decision, wrId, Opcode.SEND)
          ? decision != REFUSE
          : queuePair.postSend(wrId, local, localOffset, length, flags);
    }

    @Override
    public boolean postReceive(long wrId, MemoryRegion local, long localOffset, int length) {
      return queuePair.postReceive(wrId, local, localOffset, length);
    }

    @Override
    public int poll(CompletionHandler handler, int limit) {
      int done = 0;
      for (Made each = made.poll(); each != null; each = made.poll()) {
        handler.onCompletion(each.wrId, each.opcode, each.status, 0, 0);
        done++;
      }
      return done + queuePair.poll(handler, limit);
    }

    @Override
    public boolean postWriteImm(
        long wrId,
        MemoryRegion local,
        long localOffset,
        long key,
        long offset,
        int length,
        int imm,
        int flags) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean postFlush(long wrId, long key, long offset, int length, int flags) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean postAtomicWrite(long wrId, long key, long offset, long value, int flags) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean postCompareAndSwap(
        long wrId,
        MemoryRegion local,
        long localOffset,
        long key,
        long offset,
        long expected,
        long value,
        int flags) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean arm() {
      return made.isEmpty() && queuePair.arm();
    }

    @Override
    public boolean await(long timeoutNs) {
      return queuePair.await(timeoutNs);
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
    public MemorySegment privateData() {
      return queuePair.privateData();
    }

    @Override
    public String peer() {
      return queuePair.peer();
    }

    @Override
    public void close() {
      closed = true;
      queuePair.close();
    }
  }
}
