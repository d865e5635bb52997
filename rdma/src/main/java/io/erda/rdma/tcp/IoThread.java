package io.erda.rdma.tcp;

import io.erda.pmem.Backing;
import io.erda.pmem.FileErrors;
import io.erda.rdma.Access;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Selectors;
import io.erda.rdma.embedded.EmbeddedDevice;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The thread of a serving tcp device. It accepts peers, and executes their requests on an embedded
 * device that represents them in this process. It sleeps when there is no work.
 *
 * <p>One connection delays the others by at most one turn, in which a buffer of its frames is
 * executed. A connection that fails by an exception does not affect the others. After an Error the
 * whole JVM can't be relied on, so the thread ends, and with it the server.
 */
final class IoThread implements Runnable {
  private static final int BUFFER_BYTES = 64 << 10;
  private static final int BUFFERS_KEPT_MAX = 64;
  private static final int HANDSHAKE_BUFFER_BYTES = 512;
  private static final int HANDSHAKE_BUFFERS_KEPT_MAX = 256;

  /**
   * How many peers the server's thread may be asked about at once. Each has memory of its own then,
   * which must not come out of what is reserved for those that are connected: without memory this
   * thread would wait for the garbage collector, and all peers with it.
   */
  private static final int DECIDING_MAX = 4;

  private static final int ACCEPTS_PER_TURN = 16;
  private static final long ACCEPT_AGAIN_NS = 20_000_000;

  /** How often connections with a deadline are checked, while there are any. */
  private static final long TICK_MS = 50;

  private final TcpServerDevice device;
  private final TcpOptions options;
  private final EmbeddedDevice executor;
  private final String executorAddress;
  private final ServerSocketChannel listening;
  private final Selector selector;

  /**
   * The longest sleep while no connection has a deadline, in milliseconds; 0: unbounded. A bounded
   * sleep costs the kernel a timer, which is 3% of a get. Sleeps are bounded from the first failed
   * wake-up on.
   */
  private volatile long idleMs;

  private final Consumer<SelectionKey> onReady = this::onReady;
  private final List<ServedConnection> connections = new ArrayList<>();

  /** The {@link #connections} that are still connecting, the oldest first. */
  private final ArrayDeque<ServedConnection> handshakes = new ArrayDeque<>();

  /** The {@link #handshakes} that wait until the server's thread is asked about fewer peers. */
  private final ArrayDeque<ServedConnection> undecided = new ArrayDeque<>();

  /** How many peers the server's thread was asked about and has not decided on. */
  private int deciding;

  private final ArrayDeque<MemorySegment> spareBuffers = new ArrayDeque<>();
  private final ArrayDeque<MemorySegment> spareHandshakeBuffers = new ArrayDeque<>();
  private final Map<Long, ServedConnection> byToken = new ConcurrentHashMap<>();
  private final Thread thread;
  private long nextToken = 1;
  private SelectionKey acceptKey;
  private long acceptAgainNs;
  private boolean acceptsLater;

  /** Whether no peer can be accepted; this was reported. */
  private boolean failing;

  /** The number of connections that end when their waiting bytes were sent. */
  private int lingering;

  /**
   * Whether the thread was signalled. A signalling thread sets it before it checks {@link
   * #sleeping}.
   */
  private volatile boolean signalled;

  private volatile boolean sleeping;
  private volatile boolean closing;
  private volatile boolean refusing;
  private final CountDownLatch refused = new CountDownLatch(1);

  final TcpCounters counters = new TcpCounters();
  final AtomicLong accessesRefused = new AtomicLong();

  /** The receive buffer for messages of the server, one at a time. */
  final MemorySegment scratch = Arena.ofAuto().allocate(Frame.DATA_BYTES_MAX, 64);

  final MemoryRegion scratchRegion;

  IoThread(
      TcpServerDevice device,
      EmbeddedDevice executor,
      String executorAddress,
      ServerSocketChannel listening)
      throws IOException {
    this.device = device;
    this.options = device.options();
    this.executor = executor;
    this.executorAddress = executorAddress;
    this.listening = listening;
    this.scratchRegion = local(scratch);
    this.selector = Selector.open();
    this.idleMs = canBeWoken(selector, options.nanoTime()) ? 0 : Selectors.SLEEP_MS_MAX;
    this.acceptKey = listening.register(selector, SelectionKey.OP_ACCEPT);
    executor.forwardWakeups(this::signal);
    this.thread = new Thread(this, "erda-tcp");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Whether a call of {@code wakeup} ends a select. Only this test shows that a selector could not
   * register its own wake-up (epoll_ctl: ENOMEM).
   */
  private static boolean canBeWoken(Selector selector, LongSupplier nanoTime) throws IOException {
    if (!Selectors.wake(selector)) {
      return false;
    }
    long begunNs = nanoTime.getAsLong();
    selector.select(Selectors.SLEEP_MS_MAX);
    return nanoTime.getAsLong() - begunNs < Selectors.SLEEP_MS_MAX * 1_000_000 / 2;
  }

  boolean isCurrent() {
    return Thread.currentThread() == thread;
  }

  MemoryRegion local(MemorySegment memory) {
    return executor.register(memory, Backing.none(memory.byteSize()), Access.LOCAL);
  }

  /**
   * Wakes the thread so that it checks words that the selector does not watch. Any thread may call
   * it.
   */
  void signal() {
    signalled = true;
    if (sleeping && !Selectors.wake(selector) && idleMs == 0) {
      // The next sleeps of the thread are bounded. The present one may not be.
      idleMs = Selectors.SLEEP_MS_MAX;
      knock();
    }
  }

  /** Wakes the thread by making a connection that ends at once. */
  private void knock() {
    try (SocketChannel nobody = SocketChannel.open()) {
      nobody.configureBlocking(false);
      nobody.connect(listening.getLocalAddress());
    } catch (IOException e) {
      // The thread no longer listens, so all its sleeps are bounded.
    }
  }

  @Override
  public void run() {
    Throwable failure = null;
    try {
      while (!closing) {
        turn();
      }
    } catch (Throwable e) {
      // The thread ends: without its selector it can't serve, and after an error its state may be
      // wrong.
      failure = e;
    }
    // Takes no memory, of which there may be none.
    for (int i = connections.size() - 1; i >= 0; i--) {
      try {
        connections.get(i).drop();
      } catch (Throwable e) {
        // The failure that ended the thread may happen again in the connection that caused it. The
        // loop goes on, so that the peers of the other connections learn that these have ended.
        failure = failure == null ? e : failure;
      }
    }
    try {
      executor.close();
    } catch (Throwable e) {
      failure = failure == null ? e : failure;
    }
    try {
      release();
    } catch (Throwable e) {
      failure = failure == null ? e : failure;
    }
    refused.countDown();
    if (failure != null) {
      device.failed(failure);
    }
  }

  /** Closes what the thread listens with, if that is still open. */
  private void release() {
    Sockets.close(listening);
    Selectors.close(selector);
  }

  private void turn() throws IOException {
    sleeping = true;
    if (signalled || closing) {
      selector.selectNow(onReady);
    } else {
      selector.select(
          onReady, handshakes.isEmpty() && lingering == 0 && !acceptsLater ? idleMs() : TICK_MS);
    }
    sleeping = false;
    if (signalled) {
      signalled = false;
      for (int i = connections.size() - 1; i >= 0; i--) {
        connections.get(i).onSignal();
      }
    }
    while (deciding < DECIDING_MAX && !undecided.isEmpty()) {
      undecided.poll().goOn();
    }
    if (!handshakes.isEmpty() || lingering > 0 || acceptsLater) {
      expire(options.nanoTime().getAsLong());
    }
    if (acceptKey != null && refusing) {
      acceptKey = null;
      Sockets.close(listening);
      // The selector deregisters the channel here, which closes the descriptor.
      selector.selectNow(onReady);
      refused.countDown();
    }
  }

  /**
   * Returns the longest sleep. It is bounded also after the listening has ended, because the thread
   * is about to end.
   */
  private long idleMs() {
    return acceptKey == null ? Selectors.SLEEP_MS_MAX : idleMs;
  }

  private void onReady(SelectionKey key) {
    if (key == acceptKey) {
      accept();
    } else {
      ((ServedConnection) key.attachment()).onReady(key);
    }
  }

  private void accept() {
    try {
      for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
        SocketChannel channel = listening.accept();
        if (channel == null) {
          return;
        }
        if (failing) {
          failing = false;
          device.refusals().trouble("clients can connect over TCP again");
        }
        begin(channel);
      }
    } catch (IOException e) {
      // The process may open no more files. Peers wait in the kernel until there are fewer open
      // files.
      if (!failing) {
        failing = true;
        device
            .refusals()
            .trouble(
                "no client can connect over TCP, until that is over: accept: "
                    + FileErrors.inWords(e));
      }
      acceptAgainNs = options.nanoTime().getAsLong() + ACCEPT_AGAIN_NS;
      acceptsLater = true;
      acceptKey.interestOps(0);
    }
  }

  private void begin(SocketChannel channel) {
    try {
      Sockets.configure(channel);
      if (handshakes.size() >= options.handshakesMax()) {
        // The oldest connection makes room: very many silent connections may fill the queue, while
        // an honest handshake takes only milliseconds.
        handshakes
            .peekFirst()
            .refuse(
                RefusedPeers.Kind.HANDSHAKE,
                "it had to make room: "
                    + options.handshakesMax()
                    + " were connecting before they had said who they are");
      }
      InetSocketAddress peer = (InetSocketAddress) channel.getRemoteAddress();
      ServedConnection connection =
          new ServedConnection(this, device, channel, Sockets.text(peer), nextToken++);
      connection.key = channel.register(selector, SelectionKey.OP_READ, connection);
      connections.add(connection);
      handshakes.add(connection);
      byToken.put(connection.token, connection);
    } catch (IOException e) {
      Sockets.close(channel);
    } catch (OutOfMemoryError e) {
      Sockets.close(channel);
      device.refusals().add(RefusedPeers.Kind.MEMORY, "a peer", RefusedPeers.MEMORY);
    }
  }

  private void expire(long nowNs) {
    while (!handshakes.isEmpty() && nowNs - handshakes.peekFirst().deadlineNs >= 0) {
      handshakes
          .peekFirst()
          .refuse(
              RefusedPeers.Kind.HANDSHAKE,
              "it did not say who it is within " + options.handshake().toMillis() + " ms");
    }
    for (int i = connections.size() - 1; i >= 0; i--) {
      connections.get(i).expire(nowNs);
    }
    if (acceptsLater && nowNs - acceptAgainNs >= 0) {
      acceptsLater = false;
      if (acceptKey != null) {
        acceptKey.interestOps(SelectionKey.OP_ACCEPT);
      }
    }
  }

  // Methods for connections.

  TcpOptions options() {
    return options;
  }

  EmbeddedDevice executor() {
    return executor;
  }

  String executorAddress() {
    return executorAddress;
  }

  MemorySegment takeBuffer() {
    MemorySegment spare = spareBuffers.poll();
    return spare == null ? Arena.ofAuto().allocate(BUFFER_BYTES, 64) : spare;
  }

  MemorySegment takeHandshakeBuffer() {
    MemorySegment spare = spareHandshakeBuffers.poll();
    return spare == null ? Arena.ofAuto().allocate(HANDSHAKE_BUFFER_BYTES, 64) : spare;
  }

  /** Takes back a buffer, or one for a handshake. */
  void giveBack(MemorySegment buffer) {
    boolean handshake = buffer.byteSize() == HANDSHAKE_BUFFER_BYTES;
    ArrayDeque<MemorySegment> spares = handshake ? spareHandshakeBuffers : spareBuffers;
    assert !spares.contains(buffer) : "two connections would have one buffer";
    if (spares.size() < (handshake ? HANDSHAKE_BUFFERS_KEPT_MAX : BUFFERS_KEPT_MAX)) {
      spares.add(buffer);
    }
  }

  /**
   * Whether the server's thread may be asked about another peer. If not, the connection's {@link
   * ServedConnection#goOn} is called when it may.
   */
  boolean mayDecide(ServedConnection connection) {
    if (deciding < DECIDING_MAX) {
      return true;
    }
    if (!undecided.contains(connection)) {
      undecided.add(connection);
    }
    return false;
  }

  /** Changes the number of peers that the server's thread was asked about. */
  void decides(int more) {
    deciding += more;
    assert deciding >= 0 && deciding <= DECIDING_MAX : deciding;
  }

  void lingers(int more) {
    lingering += more;
    assert lingering >= 0 : lingering;
  }

  void connected(ServedConnection connection) {
    handshakes.remove(connection);
  }

  void forget(ServedConnection connection) {
    handshakes.remove(connection);
    undecided.remove(connection);
    connections.remove(connection);
    byToken.remove(connection.token);
  }

  // Methods for the server's thread.

  /** The connection with a token; null when it has ended. */
  ServedConnection connection(long token) {
    return byToken.get(token);
  }

  /** Stops accepting connections before it returns. */
  void refuse() {
    refusing = true;
    signal();
    uninterrupted(() -> refused.await(TICK_MS, TimeUnit.MILLISECONDS) || !thread.isAlive());
  }

  /** Waits for a while. Returns whether what it waits for has come. */
  @FunctionalInterface
  private interface Wait {
    boolean await() throws InterruptedException;
  }

  /**
   * Waits until a wait has ended. Each wait has a bound, because an earlier one that overflowed its
   * stack may have left its place in the queue of a latch, which wakes only the first of it.
   */
  private static void uninterrupted(Wait wait) {
    boolean interrupted = false;
    boolean over = false;
    while (!over) {
      try {
        over = wait.await();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns the processor time of this thread; −1 when the JVM can't determine it. */
  long cpuNs() {
    return ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.threadId());
  }

  /** Ends every connection and the thread. */
  void close() {
    closing = true;
    signal();
    uninterrupted(() -> {
      thread.join();
      return true;
    });
    // The thread may have had no memory for it.
    release();
  }
}
