package io.erda.simulation;

import io.erda.pmem.Backing;
import io.erda.rdma.Access;
import io.erda.rdma.Device;
import io.erda.rdma.DeviceStatistics;
import io.erda.rdma.Listener;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.QueuePair;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The NIC of one node, in virtual time. No method blocks: {@link #await} is refused, and so is that
 * of its queue pairs. The driver that steps the node learns of events by {@link #onActivity}.
 */
public final class SimulatedDevice implements Device {
  final SimulatedNetwork network;
  final Traffic traffic = new Traffic();
  private final String name;
  private final List<SimulatedDisk> disks;
  private final List<SimulatedQueuePair> queuePairs = new ArrayList<>();
  private final List<SimulatedListener> listeners = new ArrayList<>();
  private final List<SimulatedRegion> regions = new ArrayList<>();
  private Runnable onActivity = () -> {};
  private boolean closed;

  /**
   * Whether a requested crash has struck. The process stays dead even if its code catches the
   * error.
   */
  private boolean struck;

  private boolean crashed;
  private boolean embedded;
  private long postsToCrash;
  private long heldUntilNs;

  SimulatedDevice(SimulatedNetwork network, String name, List<SimulatedDisk> disks) {
    this.network = network;
    this.name = name;
    this.disks = disks;
  }

  /** Its name in messages. */
  public String name() {
    return name;
  }

  /**
   * Calls back whenever a completion or a connection request arrives, and at {@link #wakeup()}. The
   * callback must not post or poll.
   */
  public void onActivity(Runnable callback) {
    onActivity = callback;
  }

  void activity() {
    if (!crashed) {
      onActivity.run();
    }
  }

  // Faults.

  /**
   * The node's process dies. Its queue pairs are gone: the seed decides how much of other ends'
   * WRITEs has landed here, and how much of this node's posted work arrives until the peers notice.
   * Its regions are gone, unless READs outlive the peer.
   */
  public void crash() {
    crash(false, network.model().readsOutlivePeer());
  }

  /**
   * The node's power fails: as {@link #crash()}, but if the persistence domain is the whole system,
   * bytes that the NIC has received land; and no READ outlives it. Called before the disk's power
   * failure.
   */
  public void powerFailure() {
    network.stopStrangers(disks);
    crash(disks.stream().anyMatch(disk -> disk.domain() == PersistenceDomain.WHOLE_SYSTEM), false);
  }

  /**
   * The first step of opening a server's device: ends that store through a connection to an
   * earlier, dead process begin no further store.
   */
  public void fence() {
    network.fence();
  }

  /**
   * Makes it a device between the threads of one process, which has no clients in other processes.
   */
  public void embedded() {
    embedded = true;
  }

  /**
   * Ends the process with every thread that could be in the middle of a store, because all its
   * peers lived in the same process.
   */
  public void vanish() {
    List<SimulatedQueuePair> ends = List.copyOf(queuePairs);
    crash();
    ends.forEach(SimulatedQueuePair::fail);
  }

  /** Whether it has no queue pair and no registered memory. */
  public boolean isIdle() {
    return queuePairs.isEmpty() && regions.isEmpty();
  }

  private void crash(boolean receivedLands, boolean readsGoOn) {
    crashed = true;
    for (SimulatedQueuePair queuePair : List.copyOf(queuePairs)) {
      queuePair.crash(receivedLands, readsGoOn);
    }
    List.copyOf(listeners).forEach(SimulatedListener::close);
    if (!readsGoOn) {
      List.copyOf(regions).forEach(this::deregister);
    }
    closed = true;
  }

  /**
   * The node's process crashes inside its {@code count}-th post from now, 1 being the next, 0
   * never: before it took effect or after, by the seed. The caller of the post gets {@link
   * SimulatedCrash}; the driver that steps the process then calls {@link #crash()}.
   */
  public void crashAfterPosts(long count) {
    postsToCrash = count;
  }

  /** Whether a requested crash strikes in this post. */
  boolean strikes() {
    boolean strikes = postsToCrash > 0 && --postsToCrash == 0;
    struck |= strikes;
    return strikes;
  }

  /**
   * Throws again in a process that may have caught its crash, or lost it among other exceptions.
   *
   * @throws SimulatedCrash when the process has ended
   */
  public void requireAlive() {
    if (isCrashed()) {
      throw new SimulatedCrash("the process has ended");
    }
  }

  /** Hides completions from polls for a time; then shows all of them. */
  public void holdCompletions(long ns) {
    heldUntilNs = Math.max(heldUntilNs, network.hops.time.nowNs() + ns);
    network.hops.time.at(heldUntilNs, this::activity);
  }

  /** Shows the held completions. */
  public void releaseCompletions() {
    heldUntilNs = 0;
    activity();
  }

  boolean holdsCompletions() {
    return network.hops.time.nowNs() < heldUntilNs;
  }

  /**
   * Whether a requested crash has struck, or {@link #crash()} or {@link #powerFailure()} was
   * called: calls of a crashed device have no effect.
   */
  public boolean isCrashed() {
    return crashed || struck;
  }

  // The device.

  @Override
  public MemoryRegion register(MemorySegment memory, Backing backing, int access) {
    checkOpen();
    boolean remote = access != Access.LOCAL;
    SimulatedRegion region =
        new SimulatedRegion(this, memory, remote ? network.keys.next() : 0, access, file(memory));
    if (remote) {
      network.keys.register(region);
    }
    regions.add(region);
    return region;
  }

  private SimulatedFile file(MemorySegment memory) {
    if (memory.isNative()) {
      for (SimulatedDisk disk : disks) {
        SimulatedFile file = disk.fileAt(memory.address());
        if (file != null) {
          return file;
        }
      }
    }
    return null;
  }

  @Override
  public void deregister(MemoryRegion region) {
    SimulatedRegion own = SimulatedRegion.own(region, this);
    own.registered = false;
    regions.remove(own);
    network.keys.deregister(own);
  }

  @Override
  public Listener listen(String address) throws IOException {
    checkOpen();
    SimulatedListener listener = new SimulatedListener(this, address);
    if (!network.listen(listener)) {
      throw new IOException("address in use: " + address);
    }
    listeners.add(listener);
    return listener;
  }

  @Override
  public QueuePair connect(String address, MemorySegment privateData, Duration timeout) {
    checkOpen();
    SimulatedQueuePair queuePair =
        new SimulatedQueuePair(this, address, copy(privateData), timeout.toNanos());
    add(queuePair);
    return queuePair;
  }

  static MemorySegment copy(MemorySegment data) {
    if (data.byteSize() > PRIVATE_DATA_MAX) {
      throw new IllegalArgumentException(
          "private data of " + data.byteSize() + " bytes; at most " + PRIVATE_DATA_MAX);
    }
    // Over an array of longs, so that its words can be loaded as from native memory.
    MemorySegment copy =
        MemorySegment.ofArray(new long[PRIVATE_DATA_MAX / 8]).asSlice(0, data.byteSize());
    return copy.copyFrom(data);
  }

  @Override
  public int messageBytesMax() {
    return network.model().messageBytesMax();
  }

  @Override
  public boolean readsOutlivePeer() {
    return network.model().readsOutlivePeer();
  }

  @Override
  public boolean readsNow() {
    return network.lendsMemory();
  }

  @Override
  public boolean flushes() {
    return true;
  }

  @Override
  public int strangers() {
    return embedded ? 0 : network.lateStores.count(disks) + network.borrowingStrangers();
  }

  @Override
  public boolean await(long timeoutNs) {
    throw new UnsupportedOperationException("simulated devices don't wait: step the virtual time");
  }

  @Override
  public void wakeup() {
    activity();
  }

  @Override
  public DeviceStatistics statistics() {
    return traffic.statistics();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    List.copyOf(queuePairs).forEach(SimulatedQueuePair::close);
    List.copyOf(listeners).forEach(SimulatedListener::close);
    List.copyOf(regions).forEach(this::deregister);
    closed = true;
  }

  private void checkOpen() {
    // A crash that a handler caught is stored until all outcomes were passed on, while production
    // code goes on.
    requireAlive();
    if (closed) {
      throw new IllegalStateException("device " + name + " is closed");
    }
  }

  void add(SimulatedQueuePair queuePair) {
    queuePairs.add(queuePair);
  }

  void forget(SimulatedQueuePair queuePair) {
    queuePairs.remove(queuePair);
  }

  void forget(SimulatedListener listener) {
    listeners.remove(listener);
    network.unlisten(listener);
  }
}
