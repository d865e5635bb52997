package io.erda.rdma.tcp;

import io.erda.pmem.Backing;
import io.erda.pmem.FileErrors;
import io.erda.rdma.Access;
import io.erda.rdma.Device;
import io.erda.rdma.DeviceStatistics;
import io.erda.rdma.Listener;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Selectors;
import io.erda.rdma.StackRoom;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The tcp device of a client. It connects, and registers memory only for local use. It has no
 * thread; polling a queue pair drives the socket. Only the name of a host is looked up in a thread
 * of its own, see {@link HostLookups}.
 */
public final class TcpClientDevice implements Device {
  private final TcpOptions options;
  private final HostLookups lookups;

  /** The selector for all sockets; replaced when it fails. */
  private volatile Selector selector;

  private final List<TcpQueuePair> queuePairs = new ArrayList<>();
  private final TcpCounters counters = new TcpCounters();
  private volatile boolean woken;

  private TcpClientDevice(TcpOptions options, HostLookups lookups, Selector selector) {
    this.options = options;
    this.lookups = lookups;
    this.selector = selector;
  }

  /** Opens a device. @throws IOException when the process may open no more files */
  public static TcpClientDevice open(TcpOptions options) throws IOException {
    return open(options, HostLookups.OF_PROCESS);
  }

  /** As {@link #open(TcpOptions)}, with other lookups of names than the process's. */
  static TcpClientDevice open(TcpOptions options, HostLookups lookups) throws IOException {
    return new TcpClientDevice(options, lookups, Selector.open());
  }

  /** {@inheritDoc} Memory can be registered only for local use. */
  @Override
  public MemoryRegion register(MemorySegment memory, Backing backing, int access) {
    Objects.requireNonNull(memory, "memory");
    if (access != Access.LOCAL) {
      throw new IllegalArgumentException("peers can't reach a client's memory over TCP");
    }
    return new TcpRegion(this, memory, memory.byteSize(), access, null, null);
  }

  @Override
  public void deregister(MemoryRegion region) {}

  @Override
  public Listener listen(String address) throws IOException {
    throw new IOException("a device to connect with does not listen: " + address);
  }

  @Override
  public QueuePair connect(String address, MemorySegment privateData, Duration timeout) {
    TcpQueuePair queuePair = new TcpQueuePair(this, address, privateData, timeout);
    queuePairs.add(queuePair);
    return queuePair;
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
  public boolean flushes() {
    return true;
  }

  @Override
  public boolean await(long timeoutNs) {
    StackRoom.require(StackRoom.OF_CHANNEL);
    long bounded = timeoutNs;
    for (int i = 0; i < queuePairs.size(); i++) {
      TcpQueuePair queuePair = queuePairs.get(i);
      if (queuePair.isConnecting()) {
        bounded = Math.min(bounded, queuePair.lookAgainNs() - nowNs());
      }
    }
    boolean interrupted = false;
    try {
      long deadline = nowNs() + bounded;
      while (true) {
        interrupted |= Thread.interrupted();
        long left = deadline - nowNs();
        int ready =
            left <= 0
                ? selector.selectNow(TcpClientDevice::onReady)
                : selector.select(TcpClientDevice::onReady, Selectors.sleepMs(left));
        boolean wasWoken = woken;
        if (wasWoken) {
          woken = false;
        }
        if (ready > 0 || wasWoken) {
          return true;
        }
        // A selector does not sleep while the thread's interrupt status is set, so it is cleared
        // here and set again later.
        boolean cutShort = Thread.interrupted();
        interrupted |= cutShort;
        if (left <= (cutShort ? 0 : Selectors.SLEEP_MS_MAX * 1_000_000)) {
          return bounded < timeoutNs;
        }
      }
    } catch (IOException e) {
      onFailed(e);
      return true;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Handles a failed selector. The sockets can't be waited for, so the connections end, and later
   * connections get another selector.
   */
  private void onFailed(IOException e) {
    String why = "the wait for its socket failed: " + FileErrors.inWords(e);
    List.copyOf(queuePairs).forEach(each -> each.cutOff(why));
    try {
      Selector failed = selector;
      selector = Selector.open();
      Selectors.close(failed);
    } catch (IOException again) {
      // The next wait fails in the same way, and tries again to replace the selector.
    }
  }

  /** Does nothing, because polling finds the sockets that are ready. */
  private static void onReady(SelectionKey key) {}

  @Override
  public void wakeup() {
    woken = true;
    Selectors.wake(selector);
  }

  /** Watches the socket of an armed queue pair. */
  void watch(SocketChannel channel, boolean connected, boolean toWrite) {
    int operations =
        connected
            ? SelectionKey.OP_READ | (toWrite ? SelectionKey.OP_WRITE : 0)
            : SelectionKey.OP_CONNECT;
    try {
      SelectionKey key = channel.keyFor(selector);
      if (key == null) {
        channel.register(selector, operations);
      } else if (key.isValid() && key.interestOps() != operations) {
        key.interestOps(operations);
      }
    } catch (ClosedChannelException e) {
      // The next poll finds the error, too.
    }
  }

  TcpOptions options() {
    return options;
  }

  HostLookups lookups() {
    return lookups;
  }

  TcpCounters counters() {
    return counters;
  }

  long nowNs() {
    return options.nanoTime().getAsLong();
  }

  void forget(TcpQueuePair queuePair) {
    queuePairs.remove(queuePair);
  }

  @Override
  public DeviceStatistics statistics() {
    return counters.statistics();
  }

  @Override
  public void close() {
    // No lambda: one that is linked for the first time with an exhausted heap fails for ever.
    try {
      while (!queuePairs.isEmpty()) {
        queuePairs.getLast().close();
      }
    } finally {
      Selectors.close(selector);
    }
  }
}
