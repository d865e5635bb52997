package io.erda.rdma.tcp;

import io.erda.pmem.Backing;
import io.erda.pmem.PersistentMemory;
import io.erda.rdma.Access;
import io.erda.rdma.Device;
import io.erda.rdma.DeviceStatistics;
import io.erda.rdma.Listener;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.QueuePair;
import io.erda.rdma.RefusalListener;
import io.erda.rdma.embedded.EmbeddedDevice;
import io.erda.rdma.embedded.EmbeddedNetwork;
import io.erda.rdma.rings.RegistryLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The tcp device of a server. Its I/O thread executes READs and WRITEs of peers. The server's
 * thread handles messages, and uses no socket; while it sleeps, the I/O thread may handle them in
 * its place ({@link QueuePair#onArrival}).
 *
 * <p>Internally, the two threads are the two ends of embedded queue pairs, one for each connection:
 * the I/O thread posts on them the work in the peer's frames. So fencing, claims and revoked keys
 * are implemented by the embedded device.
 */
public final class TcpServerDevice implements Device {
  private static final int SLOTS = 1 << 14;
  private static final int BACKLOG = 256;
  private static final String INNER_ADDRESS = "io";

  private final TcpOptions options;
  private final EmbeddedNetwork network;
  private final EmbeddedDevice inner;
  private final boolean counted;
  private final long extraWriteLatencyNs;

  /** The regions that peers may reach, by the slot in their keys. */
  private final AtomicReferenceArray<TcpRegion> regions = new AtomicReferenceArray<>(SLOTS);

  private final RefusedPeers refusals = new RefusedPeers();
  private Consumer<Throwable> onFailure = error -> {};

  /** The socket of the address that was taken; of the I/O thread once there is one. */
  private ServerSocketChannel bound;

  private IoThread io;

  private TcpServerDevice(TcpOptions options, boolean counted, long extraWriteLatencyNs) {
    this.options = options;
    this.network = new EmbeddedNetwork(options.nanoTime());
    this.inner = network.device();
    this.counted = counted;
    this.extraWriteLatencyNs = extraWriteLatencyNs;
  }

  /** Opens a device; {@link #listen} starts its thread. */
  public static TcpServerDevice open(TcpOptions options) {
    return new TcpServerDevice(options, false, 0);
  }

  /**
   * As {@link #open(TcpOptions)}, with WRITEs that are compared with the bytes that they replace,
   * and that are delayed.
   */
  public static TcpServerDevice open(
      TcpOptions options, boolean counted, long extraWriteLatencyNs) {
    return new TcpServerDevice(options, counted, extraWriteLatencyNs);
  }

  @Override
  public MemoryRegion register(MemorySegment memory, Backing backing, int access) {
    return register(memory, backing, access, null);
  }

  @Override
  public MemoryRegion register(PersistentMemory memory, int access) {
    return register(memory.segment(), memory.backing(), access, memory);
  }

  private MemoryRegion register(
      MemorySegment memory, Backing backing, int access, PersistentMemory persistent) {
    // The I/O thread checks the grants, and so needs the right to WRITE to each region in which a
    // peer may get a grant.
    int forGrants = access == Access.LOCAL ? access : access | Access.REMOTE_WRITE;
    MemoryRegion executed = inner.register(memory, backing, forGrants);
    TcpRegion region = new TcpRegion(this, memory, memory.byteSize(), access, executed, persistent);
    if (executed.remoteKey() != 0) {
      assert SLOTS >= RegistryLayout.SLOTS && regions.get(slot(executed.remoteKey())) == null
          : "two regions in slot " + slot(executed.remoteKey());
      regions.set(slot(executed.remoteKey()), region);
    }
    return region;
  }

  @Override
  public void deregister(MemoryRegion region) {
    TcpRegion ours = TcpRegion.of(region, this, 0, 0);
    if (ours.remoteKey() != 0) {
      regions.compareAndSet(slot(ours.remoteKey()), ours, null);
    }
    inner.deregister(ours.inner());
  }

  private static int slot(long key) {
    return (int) key & SLOTS - 1;
  }

  /** The region of a peer's key; null when the key is invalid. From the I/O thread. */
  TcpRegion region(long key) {
    TcpRegion region = regions.get(slot(key));
    return region != null && region.remoteKey() == key ? region : null;
  }

  /** Whether all peers may WRITE to the region of a key. From the I/O thread. */
  boolean mayWrite(long key) {
    TcpRegion region = region(key);
    return region != null && (region.access() & Access.REMOTE_WRITE) != 0;
  }

  @Override
  public void bind(String address) throws IOException {
    if (bound != null) {
      throw new IOException("the device has an address already");
    }
    InetSocketAddress wanted = Sockets.address(address);
    if (!wanted.getAddress().isLoopbackAddress() && options.secret() == null) {
      throw new IOException("other hosts could use the store: without a secret, loopback alone");
    }
    ServerSocketChannel channel = ServerSocketChannel.open();
    try {
      channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      channel.bind(wanted, BACKLOG);
      channel.configureBlocking(false);
      bound = channel;
    } finally {
      if (bound == null) {
        Sockets.close(channel);
      }
    }
  }

  /** {@inheritDoc} The address is HOST:PORT; port 0 takes a free one. */
  @Override
  public Listener listen(String address) throws IOException {
    return listen(address, RefusalListener.NONE, error -> {});
  }

  @Override
  public Listener listen(
      String address, RefusalListener refusalListener, Consumer<Throwable> failures)
      throws IOException {
    if (io != null) {
      throw new IOException("the device listens already");
    }
    refusals.to(refusalListener);
    onFailure = failures;
    if (bound == null) {
      bind(address);
    }
    try {
      Listener requests = inner.listen(INNER_ADDRESS);
      io = new IoThread(this, network.device(counted, extraWriteLatencyNs), INNER_ADDRESS, bound);
      String taken = Sockets.text((InetSocketAddress) bound.getLocalAddress());
      return new TcpListener(this, requests, io, taken);
    } catch (IOException | RuntimeException | Error e) {
      Sockets.close(bound);
      throw e;
    }
  }

  /** {@inheritDoc} A serving device connects nowhere. */
  @Override
  public QueuePair connect(String address, MemorySegment privateData, Duration timeout) {
    throw new IllegalStateException("a device to serve with does not connect: " + address);
  }

  TcpOptions options() {
    return options;
  }

  RefusedPeers refusals() {
    return refusals;
  }

  @Override
  public int messageBytesMax() {
    return Frame.DATA_BYTES_MAX;
  }

  @Override
  public boolean readsOutlivePeer() {
    return false;
  }

  @Override
  public boolean limitsWrites() {
    return true;
  }

  @Override
  public boolean await(long timeoutNs) {
    return inner.await(timeoutNs);
  }

  @Override
  public void wakeup() {
    inner.wakeup();
  }

  @Override
  public boolean forwardWakeups(Runnable wakeup) {
    return inner.forwardWakeups(wakeup);
  }

  @Override
  public int strangers() {
    return inner.strangers();
  }

  /**
   * {@inheritDoc} They count peers that broke the protocol, did not prove the secret, could not
   * agree on TLS, took too long to connect, or had to make room for others; and READs and WRITEs
   * that their peer was not allowed. The I/O thread's processor time is the server's cost of READs.
   */
  @Override
  public Map<String, LongSupplier> figures() {
    Map<String, LongSupplier> all = new LinkedHashMap<>();
    refusals.addTo(all);
    all.put("tcp.refused.accesses", () -> io.accessesRefused.get());
    all.put("tcp.io.cpu.ns", () -> io.cpuNs());
    return all;
  }

  /** Called by an I/O thread that failed, as its last action. */
  void failed(Throwable error) {
    onFailure.accept(error);
  }

  @Override
  public DeviceStatistics statistics() {
    DeviceStatistics messages = inner.statistics();
    DeviceStatistics executed = io == null ? DeviceStatistics.NONE : io.counters.statistics();
    return new DeviceStatistics(
        executed.reads(),
        executed.bytesRead(),
        executed.writes(),
        executed.bytesWritten(),
        messages.bytesDiffering(),
        messages.sends(),
        messages.receives());
  }

  @Override
  public void close() {
    if (io != null) {
      io.close();
    } else if (bound != null) {
      Sockets.close(bound);
    }
    inner.close();
  }
}
