package io.erda.client.files;

import io.erda.logstore.LogReading;
import io.erda.pmem.Backing;
import io.erda.pmem.MemoryGuard;
import io.erda.pmem.ReadableDirectory;
import io.erda.protocol.StoreTables;
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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * A device for clients that only read the files of a store. It replaces the server: clients over it
 * get and iterate, and {@link MapReader} reads from the files the information that a server would
 * send. The device contacts no server, makes no file and takes no lock, so it works whether a
 * server runs or not. One thread, except {@link #wakeup()}.
 */
public final class ReadOnlyDevice implements Device {
  private static final int MESSAGE_BYTES_MAX = 4096;

  /** How often the device checks whether a waiting request can be answered, in nanoseconds. */
  private static final long WAITING_NS = 100_000;

  private record Local(MemorySegment memory) implements MemoryRegion {
    @Override
    public long remoteKey() {
      return 0;
    }
  }

  private final ReadableDirectory.Place place;
  private final LongSupplier nanoTime;
  private final List<ReadOnlyQueuePair> queuePairs = new ArrayList<>();
  private final AtomicBoolean signalled = new AtomicBoolean();
  private DeviceStatistics finished = DeviceStatistics.NONE;
  private volatile Thread sleeper;

  /**
   * @param place where each connection looks for the store
   * @param nanoTime a monotonic clock
   */
  public ReadOnlyDevice(ReadableDirectory.Place place, LongSupplier nanoTime) {
    this.place = place;
    this.nanoTime = nanoTime;
  }

  @Override
  public MemoryRegion register(MemorySegment memory, Backing backing, int access) {
    return new Local(memory);
  }

  @Override
  public void deregister(MemoryRegion region) {}

  @Override
  public Listener listen(String address) throws IOException {
    throw new IOException("nobody listens on a device that only reads: " + address);
  }

  /**
   * {@inheritDoc} The first poll makes the connection, always to the store of this device.
   *
   * @param address the name in messages
   */
  @Override
  public QueuePair connect(String address, MemorySegment privateData, Duration timeout) {
    ReadOnlyQueuePair queuePair = new ReadOnlyQueuePair(this, place, address, nanoTime);
    queuePairs.add(queuePair);
    return queuePair;
  }

  /**
   * Whether a connection would find the whole store readable now: it is recovered, its superblock
   * and region table are undamaged, and this user may read each of its files. Opens all of them,
   * and closes them again.
   */
  public boolean isReadable() {
    try (ReadableDirectory directory = MapReader.openDirectory(place);
        MapReader reader = MapReader.open(directory)) {
      Boolean readable =
          new MemoryGuard().find(reader, reading -> reachesAll(directory, reading, reading.read()));
      return readable != null && readable;
    } catch (NotReadable e) {
      return false;
    }
  }

  private static boolean reachesAll(
      ReadableDirectory directory, MapReader reader, StoreSnapshot map) {
    if (map == null) {
      return false;
    }
    try (ReachedFiles files = new ReachedFiles(directory, reader.root(), reader::regions)) {
      StoreTables tables = map.superblock().tables();
      boolean reached =
          files.reach(ReachedFiles.tableKey(tables.generation()), map) != null
              && (!tables.resizing()
                  || files.reach(ReachedFiles.tableKey(tables.nextGeneration()), map) != null);
      long[] words = map.linkWords();
      for (int slot = 0; reached && slot < words.length; slot++) {
        reached =
            !LogReading.isLinked(words[slot])
                || files.reach(ReachedFiles.regionKey(slot, words[slot]), map) != null;
      }
      return reached;
    }
  }

  void forget(ReadOnlyQueuePair queuePair) {
    if (queuePairs.remove(queuePair)) {
      finished = finished.plus(queuePair.statistics());
    }
  }

  @Override
  public int messageBytesMax() {
    return MESSAGE_BYTES_MAX;
  }

  @Override
  public boolean readsOnly() {
    return true;
  }

  /** READs of this device need no peer. */
  @Override
  public boolean readsOutlivePeer() {
    return false;
  }

  @Override
  public boolean await(long timeoutNs) {
    boolean waiting = queuePairs.stream().anyMatch(ReadOnlyQueuePair::isWaiting);
    long deadline = nanoTime.getAsLong() + (waiting ? Math.min(timeoutNs, WAITING_NS) : timeoutNs);
    boolean interrupted = false;
    sleeper = Thread.currentThread();
    try {
      while (!signalled.getAndSet(false)) {
        long left = deadline - nanoTime.getAsLong();
        if (left <= 0) {
          return waiting;
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

  /**
   * Sets the signal first, and then checks for a sleeping thread. A thread that is about to sleep
   * announces its sleep before it checks the signal, so one of the two notices the other.
   */
  @Override
  public void wakeup() {
    signalled.set(true);
    Thread thread = sleeper;
    if (thread != null) {
      LockSupport.unpark(thread);
    }
  }

  @Override
  public DeviceStatistics statistics() {
    DeviceStatistics sum = finished;
    for (ReadOnlyQueuePair queuePair : queuePairs) {
      sum = sum.plus(queuePair.statistics());
    }
    return sum;
  }

  @Override
  public void close() {
    List.copyOf(queuePairs).forEach(ReadOnlyQueuePair::close);
  }
}
