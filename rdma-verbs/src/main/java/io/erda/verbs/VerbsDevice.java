package io.erda.verbs;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.erda.pmem.Backing;
import io.erda.pmem.PersistentMemory;
import io.erda.rdma.Access;
import io.erda.rdma.Device;
import io.erda.rdma.DeviceStatistics;
import io.erda.rdma.Listener;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.QueuePair;
import io.erda.rdma.RefusalListener;
import io.erda.verbs.ffm.FfmProvider;
import io.erda.verbs.ffm.FfmVerbs;
import io.erda.verbs.ffm.Waiter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * The device of RDMA hardware, or of the kernel's soft RDMA: libibverbs and librdmacm through
 * DiSNI's interface. Connections are set up by the connection manager; see {@link VerbsQueuePair}.
 */
public final class VerbsDevice implements Device {
  private static final long BILLION = 1_000_000_000;

  private final LongSupplier nanoTime;
  private final FfmVerbs verbs;
  private final RdmaCm cm;
  private final Hca hca;
  private final RdmaEventChannel events;
  private final Waiter waiter;
  private final Map<RdmaCmId, VerbsQueuePair> queuePairs = new HashMap<>();
  private final Map<RdmaCmId, VerbsListener> listeners = new HashMap<>();

  /**
   * Connections that were refused and whose peer was not told yet, with the time until which this
   * end waits for that.
   */
  private final Map<VerbsQueuePair, Long> refused = new HashMap<>();

  private final Regions regions;
  private final Buffers buffers = new Buffers(this);
  private final Moved closedMoved = new Moved();
  private final Moved closedPeerMoved = new Moved();
  private long closedSends;
  private long receives;
  private final AtomicLong refusedForWant = new AtomicLong();
  private int psn;

  /** Whether an event for another queue pair was found since the last sleep. */
  private boolean stirred;

  /**
   * Wakes the device's thread, which sleeps on another device; null when the thread sleeps on this
   * device.
   */
  private volatile Runnable forward;

  private Consumer<Throwable> onFailure = error -> {};
  private Watcher watcher;
  private boolean closed;

  /**
   * Opens an RDMA device.
   *
   * @param name the kernel's name of the device; null for the first device that has an address of
   *     this machine
   * @param nanoTime a monotonic clock
   * @param random chooses the first remote keys and packet numbers
   * @throws IOException when there is none, or a library is missing; the message is for a user
   */
  public static VerbsDevice open(String name, LongSupplier nanoTime, RandomGenerator random)
      throws IOException {
    FfmProvider provider = FfmProvider.install();
    Hca hca = Hca.open(provider.openCm(), provider.openVerbs(), name);
    return new VerbsDevice(provider, hca, nanoTime, random);
  }

  private VerbsDevice(FfmProvider provider, Hca hca, LongSupplier nanoTime, RandomGenerator random)
      throws IOException {
    this.nanoTime = nanoTime;
    this.verbs = provider.openVerbs();
    this.cm = provider.openCm();
    this.hca = hca;
    RdmaEventChannel made = null;
    try {
      made = cm.createEventChannel();
      this.waiter = new Waiter(made.getFd(), hca.channel().getFd());
      this.events = made;
    } catch (IOException | RuntimeException | Error e) {
      if (made != null) {
        cm.destroyEventChannel(made);
      }
      hca.close(verbs);
      throw e;
    }
    this.regions = new Regions(this, random.nextInt(VerbsRegion.GENERATIONS));
    this.psn = random.nextInt();
  }

  FfmVerbs verbs() {
    return verbs;
  }

  Hca hca() {
    return hca;
  }

  /**
   * Checks the device that the connection manager chose by an address.
   *
   * @throws IOException when it is not the one that was opened
   */
  void requireOpened(IbvContext way) throws IOException {
    if (way != hca.context()) {
      throw new IOException(
          "that address belongs to the RDMA device "
              + verbs.name(way)
              + ", and "
              + verbs.name(hca.context())
              + " was opened (choose with --rdma-device, or with ?"
              + VerbsDeviceProvider.DEVICE
              + "= behind a URI)");
    }
  }

  int nextPsn() {
    return psn += 7919;
  }

  // Memory.

  @Override
  public MemoryRegion register(MemorySegment memory, Backing backing, int access) {
    return register(memory, access, 0);
  }

  @Override
  public MemoryRegion register(PersistentMemory memory, int access) {
    return register(
        memory.segment(),
        access,
        access == Access.LOCAL ? 0 : Regions.flushAccess(hca.offered(), memory));
  }

  private MemoryRegion register(MemorySegment memory, int access, int flush) {
    if ((access & ~(Access.REMOTE_READ | Access.REMOTE_WRITE | Access.REMOTE_ATOMIC)) != 0) {
      throw new IllegalArgumentException("access " + access);
    }
    int flags = IbvMr.IBV_ACCESS_LOCAL_WRITE;
    flags |= (access & Access.REMOTE_READ) != 0 ? IbvMr.IBV_ACCESS_REMOTE_READ : 0;
    flags |= (access & Access.REMOTE_WRITE) != 0 ? IbvMr.IBV_ACCESS_REMOTE_WRITE : 0;
    flags |= (access & Access.REMOTE_ATOMIC) != 0 ? IbvMr.IBV_ACCESS_REMOTE_ATOMIC : 0;
    try {
      return regions.register(memory, flags, flush, access != Access.LOCAL);
    } catch (IOException e) {
      throw new IllegalStateException(
          "can't register " + memory.byteSize() + " bytes: " + e.getMessage(), e);
    }
  }

  /** Registers memory that no peer can access. */
  VerbsRegion registerLocal(MemorySegment memory) throws IOException {
    return regions.register(memory, IbvMr.IBV_ACCESS_LOCAL_WRITE, 0, false);
  }

  @Override
  public void deregister(MemoryRegion region) {
    try {
      regions.end(VerbsRegion.of(region, this, 0, 0));
    } catch (IOException e) {
      throw new IllegalStateException("can't deregister memory: " + e.getMessage(), e);
    }
  }

  Regions regions() {
    return regions;
  }

  Buffers buffers() {
    return buffers;
  }

  // Connections.

  @Override
  public Listener listen(String address, RefusalListener refusals, Consumer<Throwable> failures)
      throws IOException {
    onFailure = failures;
    return listen(address);
  }

  @Override
  public Listener listen(String address) throws IOException {
    InetSocketAddress wanted = Addresses.parse(address);
    // This finds out now if the limit of locked memory permits the buffer of a connection.
    buffers.give(buffers.take());
    RdmaCmId id = events.createId(RdmaCm.RDMA_PS_TCP);
    try {
      id.bindAddr(wanted);
      if (id.getVerbs() != null) {
        requireOpened(id.getVerbs());
      }
      id.listen(VerbsListener.BACKLOG);
      VerbsListener listener =
          new VerbsListener(
              this, id, Addresses.format((InetSocketAddress) id.getSource()), verbs::isWaiting);
      listeners.put(id, listener);
      return listener;
    } catch (IOException | RuntimeException e) {
      id.destroyId();
      throw e;
    }
  }

  void forget(VerbsListener listener, RdmaCmId id) throws IOException {
    listeners.remove(id, listener);
    id.destroyId();
  }

  @Override
  public QueuePair connect(String address, MemorySegment privateData, Duration timeout) {
    byte[] greeting = Addresses.privateData(privateData);
    try {
      RdmaCmId id = events.createId(RdmaCm.RDMA_PS_TCP);
      Tries tries = new Tries(nanoTime, timeout);
      VerbsQueuePair queuePair = new VerbsQueuePair(this, id, address, greeting, tries);
      queuePairs.put(id, queuePair);
      try {
        queuePair.connect(Addresses.parse(address));
      } catch (IOException e) {
        queuePair.failed(e);
      }
      return queuePair;
    } catch (IOException e) {
      throw new IllegalStateException("can't connect to " + address + ": " + e.getMessage(), e);
    }
  }

  /** Makes another ID for a queue pair. The queue pair still has its old ID and must destroy it. */
  RdmaCmId replaceId(VerbsQueuePair queuePair) throws IOException {
    RdmaCmId id = events.createId(RdmaCm.RDMA_PS_TCP);
    queuePairs.remove(queuePair.id(), queuePair);
    queuePairs.put(id, queuePair);
    return id;
  }

  void add(VerbsQueuePair queuePair) {
    queuePairs.put(queuePair.id(), queuePair);
  }

  void forget(VerbsQueuePair queuePair) {
    if (queuePairs.remove(queuePair.id(), queuePair)) {
      closedMoved.add(queuePair.accounts().moved);
      closedPeerMoved.add(queuePair.accounts().peerMoved);
      closedSends += queuePair.claims().sent();
    }
  }

  void received() {
    receives++;
  }

  /**
   * Counts a peer that could not be served because memory or queue pairs are used up, or the kernel
   * failed.
   */
  void refusedForWant() {
    refusedForWant.incrementAndGet();
  }

  /** Refuses a peer, and waits for it to leave. */
  void refuse(VerbsQueuePair queuePair) {
    refused.put(queuePair, nanoTime.getAsLong() + 5 * BILLION);
  }

  /**
   * Passes the events of the connection manager to their queue pairs. Does not block. An event for
   * another queue pair than the polled one ends the next sleep at once, because that queue pair may
   * already have been polled.
   *
   * @param polled the queue pair that is polled now; null for none
   */
  void pump(VerbsQueuePair polled) throws IOException {
    boolean news = false;
    for (RdmaCmEvent event = events.getCmEvent(0); event != null; event = events.getCmEvent(0)) {
      int what = event.getEvent();
      int status = event.getStatus();
      RdmaCmId of = event.getConnIdPriv();
      RdmaCmId listening = event.getListenIdPriv();
      event.ackEvent();
      if (what == CmEvents.CONNECT_REQUEST) {
        requested(listening, of);
        continue;
      }
      VerbsQueuePair queuePair = queuePairs.get(of);
      if (queuePair != null) {
        try {
          queuePair.onEvent(what, status);
        } catch (IOException e) {
          queuePair.failed(e);
        }
        news |= queuePair != polled && queuePair.hasReport();
      }
    }
    if (!refused.isEmpty()) {
      endRefused();
    }
    if (news) {
      stirred = true;
      if (forward != null) {
        forward.run();
      }
    }
  }

  private void requested(RdmaCmId listening, RdmaCmId id) throws IOException {
    VerbsListener listener = listeners.get(listening);
    if (listener == null || id.getVerbs() != hca.context()) {
      drop(id);
    } else {
      listener.requested(id);
    }
  }

  /** Drops a request. */
  static void drop(RdmaCmId request) {
    try {
      request.destroyId();
    } catch (IOException e) {
      // The kernel destroys the ID later, when the event channel is closed.
    }
  }

  private void endRefused() {
    for (VerbsQueuePair each : List.copyOf(refused.keySet())) {
      if (each.isOver() || refused.get(each) - nanoTime.getAsLong() <= 0) {
        refused.remove(each);
        VerbsListener.leave(each);
      }
    }
  }

  // Sleeping.

  @Override
  public boolean await(long timeoutNs) {
    try {
      if (stirred) {
        stirred = false;
        return true;
      }
      long until = nanoTime.getAsLong() + Math.min(timeoutNs, Long.MAX_VALUE / 4);
      boolean woken = waiter.await(timeoutNs);
      while (!woken && nanoTime.getAsLong() - until < 0) {
        woken = waiter.await(until - nanoTime.getAsLong());
      }
      if (woken && waiter.isReady(0)) {
        pump(null);
        stirred = false;
      }
      if (woken && waiter.isReady(1)) {
        verbs.drainCqEvents(hca.channel());
      }
      return woken;
    } catch (IOException e) {
      throw new IllegalStateException("can't wait for the RDMA device: " + e.getMessage(), e);
    }
  }

  @Override
  public void wakeup() {
    waiter.wakeup();
    Runnable elsewhere = forward;
    if (elsewhere != null) {
      elsewhere.run();
    }
  }

  @Override
  public boolean forwardWakeups(Runnable wakeup) {
    if (watcher != null) {
      throw new IllegalStateException("wake-ups are forwarded already");
    }
    try {
      watcher =
          new Watcher(wakeup, e -> onFailure.accept(e), events.getFd(), hca.channel().getFd());
      forward = wakeup;
      return true;
    } catch (IOException e) {
      throw new IllegalStateException("can't watch the RDMA device: " + e.getMessage(), e);
    }
  }

  /**
   * Takes the events because of which the watcher woke the device's thread. Called before arming.
   */
  void hearWatcher() throws IOException {
    if (watcher != null && watcher.isRung()) {
      verbs.drainCqEvents(hca.channel());
      pump(null);
      watcher.answered();
    }
  }

  // Properties of the device.

  @Override
  public int messageBytesMax() {
    return MessageQueue.MESSAGE_BYTES_MAX;
  }

  /**
   * {@inheritDoc} Peers that were refused for lack of memory or queue pairs; regions that were
   * registered with on-demand paging; and regions that peers may FLUSH.
   */
  @Override
  public Map<String, LongSupplier> figures() {
    return Map.of(
        "rdma.refused.want",
        refusedForWant::get,
        "rdma.regions.ondemand",
        regions.onDemand::get,
        "rdma.regions.flushable",
        regions.flushable::get);
  }

  /**
   * {@inheritDoc} Hardware flushes a region if that makes its bytes durable; a FLUSH of any other
   * region is refused with {@link io.erda.rdma.Status#REMOTE_ACCESS}.
   */
  @Override
  public boolean flushes() {
    return hca.offered().flushes();
  }

  /** Whether the device stores a word by ATOMIC_WRITE; otherwise it uses a WRITE of 8 bytes. */
  boolean writesWords() {
    return hca.offered().writesWords();
  }

  @Override
  public boolean readsOutlivePeer() {
    return false;
  }

  /**
   * {@inheritDoc} These are the counts of this end's work, and of its peers' work as far as their
   * messages have reported it.
   */
  @Override
  public DeviceStatistics statistics() {
    Moved own = new Moved();
    own.add(closedMoved);
    own.add(closedPeerMoved);
    long sends = closedSends;
    for (VerbsQueuePair each : queuePairs.values()) {
      own.add(each.accounts().moved);
      own.add(each.accounts().peerMoved);
      sends += each.claims().sent();
    }
    return new DeviceStatistics(
        own.reads, own.bytesRead, own.writes, own.bytesWritten, -1, sends, receives);
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (watcher != null) {
      watcher.close();
    }
    List<AutoCloseable> all = new ArrayList<>();
    all.addAll(queuePairs.values());
    all.addAll(listeners.values());
    regions.all().forEach(region -> all.add(() -> regions.end(region)));
    all.add(buffers::close);
    all.add(waiter);
    all.add(() -> cm.destroyEventChannel(events));
    all.add(() -> hca.close(verbs));
    closeAll(all);
  }

  /** Closes all objects, also after a failure, and throws the first failure. */
  private static void closeAll(List<AutoCloseable> all) {
    IllegalStateException failure = null;
    for (AutoCloseable each : all) {
      try {
        each.close();
      } catch (Exception e) {
        if (failure == null) {
          failure = new IllegalStateException("can't close the device: " + e.getMessage(), e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
