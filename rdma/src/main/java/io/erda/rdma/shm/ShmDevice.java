package io.erda.rdma.shm;

import io.erda.pmem.Backing;
import io.erda.pmem.FailedFileSystemException;
import io.erda.pmem.FileErrors;
import io.erda.pmem.MemoryGuard;
import io.erda.pmem.OutOfSpaceException;
import io.erda.pmem.Uninterrupted;
import io.erda.pmem.UntrustedFileException;
import io.erda.pmem.libc.Libc;
import io.erda.rdma.Device;
import io.erda.rdma.DeviceStatistics;
import io.erda.rdma.Listener;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.QueuePair;
import io.erda.rdma.RefusalListener;
import io.erda.rdma.Selectors;
import io.erda.rdma.StackRoom;
import io.erda.rdma.Status;
import io.erda.rdma.rings.LocalRegion;
import io.erda.rdma.rings.QueueLayout;
import io.erda.rdma.rings.RegistryLayout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The device between processes of one host. An address is a directory. A region is a mapped file;
 * READ and WRITE are loads and stores of the posting thread, and cost the owner of the region no
 * processor time. Messages go through rings in a file for each connection; an idle end sleeps on a
 * socket.
 *
 * <p>A device with a directory serves in it, or holds it for a process that serves no others. It
 * has the lock of the directory until it is closed, lists its regions in the directory's registry,
 * and begins with fencing the connections of an earlier server. Only the requester READs and
 * WRITEs. Bytes of clients in rings, headers and sockets are checked and can't break the server; a
 * client that shortens its queue file loses its own connection ({@link QueuePair#isMemoryLost});
 * and a user other than the server's can't use up the server's sockets or descriptors. A READ or
 * WRITE of a region's file that was shortened completes with {@link Status#MEMORY_LOST}; the
 * region's owner guards its own loads and stores by a {@link MemoryGuard}.
 *
 * <p>{@link #close()} has the same effect on open queue pairs as the end of the process: from then
 * on WRITEs of peers fail, and their READs go on. Closing a queue pair ends both; deregistering a
 * region ends the READs of it. So a server whose clients should go on reading while it restarts
 * closes only the device.
 */
public final class ShmDevice implements Device {
  /** The most regions that peers may use at a time. */
  public static final int REGIONS_MAX = RegistryLayout.SLOTS;

  /** How often an idle device looks for wake-ups that the selector does not report. */
  private static final long LOOK_NS = 500_000_000;

  /** How many of them in a row show that a socket is not watched. */
  private static final int UNREPORTED_MAX = 3;

  private static final long DEAF_SLEEP_NS = 2_000_000;

  private final ShmOptions options;

  /** The selector for all sockets; replaced when it fails. */
  private volatile Selector selector;

  private final List<ShmQueuePair> queuePairs = new ArrayList<>();
  private final List<ShmQueuePair> departing = new ArrayList<>();

  /** The directory in which the device serves; null for a device that only connects. */
  private final Serving serving;

  private ShmListener listener;
  private RefusalListener told = RefusalListener.NONE;
  private DeviceStatistics finished = DeviceStatistics.NONE;
  private volatile boolean woken;
  private boolean closed;

  /** How often in a row a socket had a wake-up that the selector did not report. */
  private int unreported;

  /** When an idle device looks for such wake-ups again, by its clock. */
  private long nextLook;

  private ShmDevice(ShmOptions options, Selector selector, Serving serving) {
    this.options = options;
    this.selector = selector;
    this.serving = serving;
  }

  /**
   * Opens a device.
   *
   * @throws IOException when the directory can't be used, or another device serves in it
   * @throws io.erda.pmem.OutOfSpaceException when the disk is full and no server ran here before
   */
  public static ShmDevice open(ShmOptions options) throws IOException {
    return Uninterrupted.call(() -> openOnce(options));
  }

  private static ShmDevice openOnce(ShmOptions options) throws IOException {
    Selector selector = Selector.open();
    try {
      return options.directory() == null
          ? new ShmDevice(options, selector, null)
          : new ShmDevice(options, selector, Serving.begin(options));
    } catch (IOException | RuntimeException e) {
      selector.close();
      throw e;
    }
  }

  /**
   * @throws IllegalArgumentException when peers may use it and {@code backing} names no file, or
   *     the device serves no directory
   */
  @Override
  public MemoryRegion register(MemorySegment memory, Backing backing, int access) {
    LocalRegion.check(memory, access);
    if (!LocalRegion.isRemote(access)) {
      return new LocalRegion(this, memory, backing, access, 0);
    }
    if (!isServer()) {
      throw new IllegalArgumentException("a device that does not serve has no regions for peers");
    }
    long key = serving.registry().add(backing, memory.byteSize(), access);
    return new LocalRegion(this, memory, backing, access, key);
  }

  @Override
  public void deregister(MemoryRegion region) {
    if (region.remoteKey() != 0) {
      serving.registry().remove(region.remoteKey());
    }
  }

  RefusalListener told() {
    return told;
  }

  private boolean isServer() {
    return serving != null && serving.registry() != null;
  }

  /**
   * @param address the device's own directory
   */
  @Override
  public Listener listen(String address) throws IOException {
    return listenAs(ShmSocket.user(Libc.effectiveUser()), address);
  }

  /**
   * {@inheritDoc} This device does not report individual peers, because each of them gets the
   * reason of its refusal.
   */
  @Override
  public Listener listen(String address, RefusalListener refusals, Consumer<Throwable> failures)
      throws IOException {
    told = refusals;
    return listen(address);
  }

  /** Listens as if this process belonged to the user {@code own}. */
  public Listener listenAs(UserPrincipal own, String address) throws IOException {
    if (!isServer()
        || !Path.of(address)
            .toAbsolutePath()
            .normalize()
            .equals(options.directory().toAbsolutePath().normalize())) {
      throw new IOException("this device serves in " + options.directory() + ", not in " + address);
    }
    if (listener != null) {
      throw new IOException("listening in " + address + " already");
    }
    listener = new ShmListener(this, serving.directory(), own, options.nanoTime());
    return listener;
  }

  @Override
  public QueuePair connect(String address, MemorySegment privateData, Duration timeout) {
    if (privateData.byteSize() > PRIVATE_DATA_MAX) {
      throw new IllegalArgumentException(
          "private data of " + privateData.byteSize() + " bytes; at most " + PRIVATE_DATA_MAX);
    }
    ShmQueuePair queuePair = connecting(address, privateData, timeout);
    // If the first attempt throws, the device still closes the queue pair.
    queuePairs.add(queuePair);
    queuePair.advanceConnect();
    return queuePair;
  }

  private ShmQueuePair connecting(String address, MemorySegment privateData, Duration timeout) {
    ShmDirectory directory = null;
    ShmQueuePair made = null;
    int status;
    String why = "";
    try {
      directory = ShmDirectory.open(Path.of(address));
      status = lookForServer(directory);
      if (status == Status.SUCCESS) {
        made = connecting(directory, privateData, timeout);
        return made;
      }
    } catch (InvalidPathException | NoSuchFileException e) {
      status = Status.UNREACHABLE;
    } catch (AccessDeniedException e) {
      status = Status.DENIED;
    } catch (NotDirectoryException | UntrustedFileException e) {
      status = Status.UNTRUSTED;
    } catch (OutOfSpaceException e) {
      status = Status.NO_SPACE;
      why = FileErrors.inWords(e);
    } catch (IOException e) {
      status =
          FailedFileSystemException.isReasonOf(e)
              ? Status.UNWRITABLE
              : directory != null && isFull(directory) ? Status.NO_SPACE : Status.LOCAL;
      why = FileErrors.inWords(e);
    } finally {
      if (made == null && directory != null) {
        directory.close();
      }
    }
    return ShmQueuePair.failed(this, address, status, why, options);
  }

  private ShmQueuePair connecting(
      ShmDirectory directory, MemorySegment privateData, Duration timeout) throws IOException {
    QueueFile file = Uninterrupted.call(() -> QueueFile.obtain(directory));
    ShmQueuePair made = null;
    try {
      initialise(file, directory, privateData);
      made = ShmQueuePair.connecting(this, directory, file, timeout.toNanos(), options);
      return made;
    } finally {
      if (made == null) {
        file.abandon();
      }
    }
  }

  private void initialise(QueueFile file, ShmDirectory directory, MemorySegment privateData)
      throws IOException {
    boolean stored =
        new MemoryGuard()
            .attempt(
                file.queue(),
                queue ->
                    QueueLayout.initialise(
                        queue, ProcessHandle.current().pid(), options.counted(), privateData));
    if (!stored) {
      IOException why = file.storeFailure(directory);
      throw why instanceof OutOfSpaceException
          ? why
          : new FailedFileSystemException(null, why.getMessage());
    }
  }

  private static int lookForServer(ShmDirectory directory) throws IOException {
    if (directory.attributes(ShmSocket.FILE) != null) {
      return Status.SUCCESS;
    }
    if (Serving.isHeld(directory)) {
      return Status.TAKEN;
    }
    // A server that is starting makes its socket last, so the lock shows whether one is starting.
    return directory.isLocked() ? Status.SUCCESS : Status.UNREACHABLE;
  }

  private static boolean isFull(ShmDirectory directory) {
    try {
      return Files.getFileStore(directory.at(".")).getUsableSpace() < QueueLayout.BYTES;
    } catch (IOException e) {
      return false;
    }
  }

  ShmQueuePair accept(QueueFile file, ShmSocket socket, String peer, UserPrincipal user) {
    ShmQueuePair queuePair = ShmQueuePair.accepted(this, file, socket, peer, user, options);
    queuePairs.add(queuePair);
    return queuePair;
  }

  boolean isConnected(String queueFileName) {
    for (ShmQueuePair queuePair : queuePairs) {
      if (queuePair.isOf(queueFileName)) {
        return true;
      }
    }
    for (ShmQueuePair queuePair : departing) {
      if (queuePair.isOf(queueFileName)) {
        return true;
      }
    }
    return false;
  }

  SpareQueueFiles spares() {
    return serving.spares();
  }

  long registryId() {
    return serving.registry().id();
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
    return true;
  }

  /**
   * Whether the peer of a queue pair that this device accepted has provably left: its process
   * ended, or it closed its end. Until then it may still be in the middle of a WRITE, even if the
   * queue pair was closed here long ago. Costs a system call.
   */
  public boolean peerLeft(QueuePair queuePair) {
    if (!(queuePair instanceof ShmQueuePair shm) || shm.isRequester()) {
      throw new IllegalArgumentException("not accepted by this device");
    }
    if (!shm.peerLeft()) {
      return false;
    }
    departing.remove(shm);
    return true;
  }

  /** {@inheritDoc} All strangers are fenced. */
  @Override
  public int strangers() {
    askDeparting();
    return (serving == null ? 0 : serving.strangers().count()) + departing.size();
  }

  @Override
  public boolean await(long timeoutNs) {
    if (listener != null && listener.hasRequests()) {
      return true;
    }
    long bounded = timeoutNs;
    for (ShmQueuePair queuePair : queuePairs) {
      bounded = queuePair.bounded(bounded);
    }
    boolean somethingCame = select(isDeaf() ? Math.min(bounded, DEAF_SLEEP_NS) : bounded);
    if (somethingCame) {
      unreported = isDeaf() ? unreported : 0;
    } else if (isDeaf() || options.nanoTime().getAsLong() - nextLook >= 0) {
      somethingCame = lookForRings();
    }
    if (listener != null) {
      listener.onAwake(somethingCame);
    }
    return somethingCame || bounded < timeoutNs;
  }

  /**
   * Takes wake-ups that the selector does not report. The kernel refuses to watch a socket when it
   * has no memory, or when the user watches too many (epoll_ctl(2): ENOMEM, ENOSPC), and the JDK
   * passes over that. A wake-up can also come just behind a sleep, so only several in a row make
   * this device deaf, which then sleeps only for short times.
   */
  private boolean lookForRings() {
    nextLook = options.nanoTime().getAsLong() + LOOK_NS;
    boolean any = false;
    for (ShmQueuePair queuePair : List.copyOf(queuePairs)) {
      any |= queuePair.takeUnreportedRing();
    }
    unreported += any ? 1 : 0;
    return any;
  }

  private boolean isDeaf() {
    return unreported >= UNREPORTED_MAX;
  }

  /** Sleeps on all sockets. Returns true when a socket is ready, or the device was woken. */
  boolean select(long timeoutNs) {
    StackRoom.require(StackRoom.OF_CHANNEL);
    int ready;
    try {
      ready = timeoutNs <= 0 ? selector.selectNow(ShmDevice::onReady) : selectFor(timeoutNs);
    } catch (IOException e) {
      if (serving != null) {
        // The error ends a server.
        throw new UncheckedIOException(e);
      }
      onFailed(e);
      return true;
    }
    boolean wasWoken = woken;
    if (wasWoken) {
      woken = false;
    }
    return ready > 0 || wasWoken;
  }

  /**
   * Handles a failed selector of a device that only connects. Its sockets can't be waited for, so
   * its connections end, and later connections get another selector.
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

  /**
   * Selects with a time-out. A selector does not sleep while the thread's interrupt status is set,
   * so the status is cleared before, and set again afterwards.
   */
  private int selectFor(long timeoutNs) throws IOException {
    boolean interrupted = Thread.interrupted();
    long deadline = options.nanoTime().getAsLong() + timeoutNs;
    long left = timeoutNs;
    try {
      while (true) {
        long ms = Selectors.sleepMs(left);
        int ready = selector.select(ShmDevice::onReady, ms);
        if (Thread.interrupted()) {
          interrupted = true;
          left = deadline - options.nanoTime().getAsLong();
        } else {
          left -= ms * 1_000_000;
        }
        if (ready > 0 || woken || left <= 0) {
          return ready;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void onReady(SelectionKey key) {
    if (key.attachment() instanceof ShmQueuePair queuePair) {
      queuePair.onReadable();
    } else {
      ((ShmListener) key.attachment()).onReady();
    }
  }

  @Override
  public void wakeup() {
    woken = true;
    Selectors.wake(selector);
  }

  void watch(SocketChannel channel, ShmQueuePair queuePair) throws ClosedChannelException {
    channel.register(selector, SelectionKey.OP_READ, queuePair);
  }

  void watchHello(SocketChannel channel, ShmListener forListener) throws ClosedChannelException {
    channel.register(selector, SelectionKey.OP_READ, forListener);
  }

  void watchAccept(ServerSocketChannel channel, ShmListener forListener)
      throws ClosedChannelException {
    channel.register(selector, SelectionKey.OP_ACCEPT, forListener);
  }

  void unwatch(SocketChannel channel) {
    SelectionKey key = channel.keyFor(selector);
    if (key != null) {
      key.cancel();
    }
  }

  @Override
  public DeviceStatistics statistics() {
    DeviceStatistics sum = finished;
    for (ShmQueuePair queuePair : queuePairs) {
      sum = sum.plus(queuePair.statistics());
    }
    return sum;
  }

  void forget(ShmQueuePair queuePair, DeviceStatistics last) {
    finished = finished.plus(last);
    queuePairs.remove(queuePair);
  }

  /** Releases the queue files of peers that have left. Costs a system call for each. */
  void askDeparting() {
    departing.removeIf(ShmQueuePair::peerLeft);
  }

  /**
   * Returns the number of closed connections of a user whose clients still hold their queue files.
   */
  int departing(UserPrincipal user) {
    int count = 0;
    for (ShmQueuePair queuePair : departing) {
      count += queuePair.isOf(user) ? 1 : 0;
    }
    return count;
  }

  void departing(ShmQueuePair queuePair) {
    askDeparting();
    if (!queuePair.peerLeft() && !departing.contains(queuePair)) {
      departing.add(queuePair);
    }
  }

  void forget(ShmListener closedListener) {
    listener = null;
    flushCancelled();
  }

  /**
   * Makes a selection, because only the next selection closes the descriptor of a closed channel
   * that the selector watched.
   */
  void flushCancelled() {
    StackRoom.require(StackRoom.OF_CHANNEL);
    try {
      selector.selectNow(ShmDevice::onReady);
    } catch (IOException e) {
      // The descriptor stays open until the selector is closed. The next wait reports the error.
    }
  }

  @Override
  public void close() {
    try {
      if (!closed) {
        leave();
        closed = true;
      }
    } finally {
      // The lock of the directory is released last. When this call runs out of memory before, a
      // further call releases it.
      if (serving != null) {
        serving.close();
      }
    }
  }

  private void leave() {
    if (listener != null) {
      listener.close();
    }
    for (ShmQueuePair queuePair : List.copyOf(queuePairs)) {
      queuePair.closeAs(QueueLayout.GONE);
    }
    departing.forEach(ShmQueuePair::forgetPeer);
    Selectors.close(selector);
  }
}
