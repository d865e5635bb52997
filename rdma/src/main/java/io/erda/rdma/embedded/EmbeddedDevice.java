package io.erda.rdma.embedded;

import io.erda.pmem.Backing;
import io.erda.rdma.Device;
import io.erda.rdma.DeviceStatistics;
import io.erda.rdma.Listener;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.QueuePair;
import io.erda.rdma.rings.LocalRegion;
import io.erda.rdma.rings.QueueLayout;
import io.erda.rdma.rings.RingQueuePair;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * The device for client and server in one JVM. READ and WRITE are loads and stores by the posting
 * thread in the memory of the other end. Regions need no file, and their memory must be accessible
 * from the peer's thread (no confined arena). Either end may READ and WRITE.
 */
public final class EmbeddedDevice implements Device {
  private static final VarHandle SIGNALLED;

  static {
    try {
      SIGNALLED =
          MethodHandles.lookup().findVarHandle(EmbeddedDevice.class, "signalled", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  private final EmbeddedNetwork network;
  private final boolean counted;
  private final long extraWriteLatencyNs;
  private final LongSupplier nanoTime;

  /** A sleeping thread reads this list while another thread accepts or closes queue pairs. */
  private final List<EmbeddedQueuePair> queuePairs = new CopyOnWriteArrayList<>();

  private final List<EmbeddedQueuePair> departing = new ArrayList<>();
  private final List<EmbeddedListener> listeners = new ArrayList<>();

  /** Memory of connections that both ends have closed. Threads of peers give it back. */
  private final Queue<MemorySegment> spareQueues = new ConcurrentLinkedQueue<>();

  private DeviceStatistics finished = DeviceStatistics.NONE;

  @SuppressWarnings("unused") // through SIGNALLED
  private volatile boolean signalled;

  private volatile Thread sleeper;
  private volatile Runnable wakesToo;
  private volatile Runnable rung = this::wakeup;

  /** The most memories that a device keeps for its next connections. */
  private static final int QUEUES_KEPT_MAX = 64;

  EmbeddedDevice(
      EmbeddedNetwork network, boolean counted, long extraWriteLatencyNs, LongSupplier nanoTime) {
    this.network = network;
    this.counted = counted;
    this.extraWriteLatencyNs = extraWriteLatencyNs;
    this.nanoTime = nanoTime;
  }

  @Override
  public MemoryRegion register(MemorySegment memory, Backing backing, int access) {
    LocalRegion.check(memory, access);
    return LocalRegion.isRemote(access)
        ? network.register(this, memory, backing, access)
        : new LocalRegion(this, memory, backing, access, 0);
  }

  @Override
  public void deregister(MemoryRegion region) {
    if (region.remoteKey() != 0) {
      network.deregister(region.remoteKey());
    }
  }

  @Override
  public Listener listen(String address) throws IOException {
    EmbeddedListener listener = new EmbeddedListener(this, network, address);
    if (!network.listen(listener)) {
      throw new IOException("embedded address in use: " + address);
    }
    listeners.add(listener);
    return listener;
  }

  @Override
  public QueuePair connect(String address, MemorySegment privateData, Duration timeout) {
    MemorySegment spare = spareQueues.poll();
    MemorySegment queue =
        spare == null ? Arena.ofAuto().allocate(QueueLayout.BYTES, 128) : spare.fill((byte) 0);
    QueueLayout.initialise(queue, ProcessHandle.current().pid(), counted, privateData);
    EmbeddedQueuePair queuePair =
        new EmbeddedQueuePair(this, network, queue, true, timeout.toNanos(), nanoTime);
    queuePairs.add(queuePair);
    EmbeddedListener listener = network.listener(address);
    if (network.isClosed() || listener == null || !listener.offer(queuePair)) {
      queuePair.unreachable();
    }
    return queuePair;
  }

  EmbeddedQueuePair accept(EmbeddedQueuePair requester) {
    EmbeddedQueuePair queuePair =
        new EmbeddedQueuePair(this, network, requester.queue, false, 0, nanoTime);
    queuePairs.add(queuePair);
    return queuePair;
  }

  @Override
  public int messageBytesMax() {
    return QueueLayout.MESSAGE_BYTES_MAX;
  }

  @Override
  public boolean readsNow() {
    return true;
  }

  @Override
  public boolean readsOutlivePeer() {
    return false;
  }

  @Override
  public boolean await(long timeoutNs) {
    long deadline = nanoTime.getAsLong() + bounded(timeoutNs);
    boolean interrupted = false;
    sleeper = Thread.currentThread();
    try {
      while (!(boolean) SIGNALLED.getAndSet(this, false)) {
        long left = deadline - nanoTime.getAsLong();
        if (left <= 0) {
          return false;
        }
        LockSupport.parkNanos(this, left);
        // A thread whose interrupt status is set does not sleep, so the status is cleared here and
        // set again later.
        interrupted |= Thread.interrupted();
      }
      return true;
    } finally {
      sleeper = null;
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Returns the longest sleep: the time-out of an attempt to connect ends the sleep, too. */
  private long bounded(long timeoutNs) {
    long bounded = timeoutNs;
    for (EmbeddedQueuePair queuePair : queuePairs) {
      if (queuePair.phase() == RingQueuePair.Phase.CONNECTING) {
        bounded = Math.min(bounded, queuePair.connectDeadline() - nanoTime.getAsLong());
      }
    }
    return Math.max(0, bounded);
  }

  /**
   * This thread first stores the signal, and then checks for a sleeping thread. The sleeping thread
   * first stores itself, and then checks the signal. So at least one of the two notices the other.
   */
  @Override
  public void wakeup() {
    SIGNALLED.setVolatile(this, true);
    Thread thread = sleeper;
    if (thread != null) {
      LockSupport.unpark(thread);
    }
    Runnable other = wakesToo;
    if (other != null) {
      other.run();
    }
  }

  /**
   * Sets an action that a peer's thread runs, instead of waking this end, when it sent a message
   * while this end sleeps. It must not throw. It runs within the peer's post.
   */
  public void onRing(Runnable newRung) {
    rung = newRung;
  }

  /** Called by a peer that sent a message while this end sleeps. */
  void ring() {
    rung.run();
  }

  @Override
  public boolean forwardWakeups(Runnable wakeup) {
    wakesToo = wakeup;
    return true;
  }

  @Override
  public DeviceStatistics statistics() {
    DeviceStatistics sum = finished;
    for (EmbeddedQueuePair queuePair : queuePairs) {
      sum = sum.plus(queuePair.statistics());
    }
    return sum;
  }

  /** Whether the device neither counts nor delays WRITEs. */
  public boolean isPlain() {
    return !counted && extraWriteLatencyNs == 0;
  }

  boolean isCounted() {
    return counted;
  }

  long extraWriteLatencyNs() {
    return extraWriteLatencyNs;
  }

  void forget(EmbeddedQueuePair queuePair) {
    finished = finished.plus(queuePair.statistics());
    queuePairs.remove(queuePair);
    // strangers() removes them too, but nobody may ever call it.
    departing.removeIf(EmbeddedDevice::isLeft);
    if (queuePair.isRequester()) {
      if (queuePair.isRefused()) {
        giveBack(queuePair.queue);
      }
    } else if (!isLeft(queuePair)) {
      departing.add(queuePair);
    }
  }

  /** Whether both ends are closed. Then the memory between them serves another connection. */
  private static boolean isLeft(EmbeddedQueuePair closed) {
    boolean left = closed.peerLeft();
    if (left) {
      closed.requesterDevice().giveBack(closed.queue);
    }
    return left;
  }

  /** Keeps the memory of a connection that this device has made, and that nobody uses any more. */
  private void giveBack(MemorySegment queue) {
    if (spareQueues.size() < QUEUES_KEPT_MAX) {
      spareQueues.add(queue);
    }
  }

  /** {@inheritDoc} The peers' threads are in this JVM, but may have stopped anywhere. */
  @Override
  public int strangers() {
    departing.removeIf(EmbeddedDevice::isLeft);
    return departing.size();
  }

  /**
   * Returns the number of closed ends that are kept because their peers had not left at the last
   * check.
   */
  public int kept() {
    return departing.size();
  }

  void forget(EmbeddedListener listener) {
    listeners.remove(listener);
  }

  @Override
  public void close() {
    List.copyOf(listeners).forEach(EmbeddedListener::close);
    List.copyOf(queuePairs).forEach(EmbeddedQueuePair::close);
  }
}
