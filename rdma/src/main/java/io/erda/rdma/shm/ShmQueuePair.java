package io.erda.rdma.shm;

import io.erda.pmem.FailedStoreException;
import io.erda.pmem.FileErrors;
import io.erda.pmem.ReadAhead;
import io.erda.pmem.UnmappedException;
import io.erda.pmem.UntrustedFileException;
import io.erda.rdma.DeviceStatistics;
import io.erda.rdma.Status;
import io.erda.rdma.rings.QueueLayout;
import io.erda.rdma.rings.RemoteRegion;
import io.erda.rdma.rings.RingQueuePair;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.AccessMode;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.function.LongSupplier;

/**
 * One end of a connection between processes of one host. Owns its end of the queue file and the
 * socket.
 */
public final class ShmQueuePair extends RingQueuePair {
  private static final long PEER_CHECK_INTERVAL_NS = 1_000_000;

  /**
   * The first pause before another attempt to enter the server's backlog, in nanoseconds; each
   * failure doubles it.
   */
  private static final long CONNECT_RETRY_NS = 1_000_000;

  private static final long CONNECT_RETRY_NS_MAX = 32_000_000;

  private final ShmDevice device;

  /** The directory; null for a responder. */
  private final ShmDirectory directory;

  /** The queue file; null for an attempt that failed at once. */
  private final QueueFile file;

  private final String peer;

  /** Null while there is none. A test ends it. */
  ShmSocket socket;

  private ShmRegistryView view;
  private int connectFailure;

  /** The reason why an attempt failed, in addition to its status; empty when it is unknown. */
  private String failure = "";

  private int reachFailure = Status.REMOTE_ACCESS;
  private String unreached = "";

  /** The server's user; known when the socket is connected. */
  private UserPrincipal server;

  /** The client's user; known only to a responder. */
  private UserPrincipal user;

  private long lastCheck;
  private long nextAttempt;
  private long retryNs = CONNECT_RETRY_NS;
  private boolean rung;
  private boolean readable;

  /** The statistics of this end when it was closed; null before. */
  private DeviceStatistics last;

  private ShmQueuePair(
      ShmDevice device,
      ShmDirectory directory,
      QueueFile file,
      MemorySegment queue,
      boolean requester,
      String peer,
      long timeoutNs,
      LongSupplier nanoTime,
      ShmOptions options) {
    super(
        device,
        queue,
        requester,
        options.counted(),
        options.extraWriteLatencyNs(),
        timeoutNs,
        nanoTime);
    this.device = device;
    this.directory = directory;
    this.file = file;
    this.peer = peer;
    this.lastCheck = nanoTime.getAsLong();
    this.nextAttempt = lastCheck;
  }

  /**
   * Makes a requester that connects while it is polled. It owns the directory and the file from
   * here on.
   */
  static ShmQueuePair connecting(
      ShmDevice device,
      ShmDirectory directory,
      QueueFile file,
      long timeoutNs,
      ShmOptions options) {
    return new ShmQueuePair(
        device,
        directory,
        file,
        file.queue(),
        true,
        directory.path().toString(),
        timeoutNs,
        options.nanoTime(),
        options);
  }

  /** Makes a requester whose attempt has failed. */
  static ShmQueuePair failed(
      ShmDevice device, String address, int status, String why, ShmOptions options) {
    MemorySegment queue = Arena.ofAuto().allocate(QueueLayout.BYTES, 8);
    ShmQueuePair queuePair =
        new ShmQueuePair(device, null, null, queue, true, address, 0, options.nanoTime(), options);
    queuePair.connectFailure = status;
    queuePair.failure = why;
    return queuePair;
  }

  static ShmQueuePair accepted(
      ShmDevice device,
      QueueFile file,
      ShmSocket socket,
      String peer,
      UserPrincipal user,
      ShmOptions options) {
    ShmQueuePair queuePair =
        new ShmQueuePair(
            device, null, file, file.queue(), false, peer, 0, options.nanoTime(), options);
    queuePair.user = user;
    queuePair.use(socket);
    return queuePair;
  }

  private void use(ShmSocket connected) {
    socket = connected;
    try {
      device.watch(connected.channel(), this);
    } catch (ClosedChannelException e) {
      lost();
    }
  }

  private void lost() {
    if (phase() != Phase.CONNECTING) {
      breakOff();
    } else if (socket != null && socket.isDenied()) {
      connectFailure = Status.DENIED;
    } else {
      attemptFailed();
    }
  }

  /**
   * Handles that the server was not reached, or ended the connection without an answer. The attempt
   * fails only when no server of this version lives; a living server may have been too busy, or may
   * be starting.
   */
  private void attemptFailed() {
    int version = ShmRegistryView.version(directory);
    if (socket != null && version >= 0 && version != QueueLayout.VERSION) {
      failure = otherVersion(version);
      connectFailure = Status.INCOMPATIBLE;
    } else if (Serving.isHeld(directory)) {
      connectFailure = Status.TAKEN;
    } else if (!directory.isLocked()) {
      connectFailure = Status.UNREACHABLE;
    } else if (socket != null) {
      device.unwatch(socket.channel());
      socket.close();
      socket = null;
    }
  }

  /** Ends the connection, or the attempt, because its socket can't be waited for. */
  void cutOff(String why) {
    if (phase() == Phase.CONNECTING && connectFailure == Status.SUCCESS) {
      failure = why;
      connectFailure = Status.LOCAL;
    } else if (phase() == Phase.CONNECTED) {
      failure = why;
      breakOff();
    }
  }

  private static String otherVersion(int version) {
    return "the server has version %d of shm/, this client version %d"
        .formatted(version, QueueLayout.VERSION);
  }

  @Override
  protected int advanceConnect() {
    if (connectFailure != Status.SUCCESS) {
      return connectFailure;
    }
    if (socket != null) {
      drain();
    }
    if (socket != null || connectFailure != Status.SUCCESS || isAnswered()) {
      return connectFailure;
    }
    if (nanoTime.getAsLong() - nextAttempt < 0) {
      return Status.SUCCESS;
    }
    nextAttempt = nanoTime.getAsLong() + retryNs;
    retryNs = Math.min(2 * retryNs, CONNECT_RETRY_NS_MAX);
    try {
      ShmSocket connected = ShmSocket.connect(directory);
      if (connected != null) {
        use(connected);
        server = connected.peer();
        connected.sendHello(file.name());
      }
    } catch (IOException e) {
      if (isForbidden(directory.at(ShmSocket.FILE))) {
        connectFailure = Status.DENIED;
      } else {
        attemptFailed();
      }
    }
    return connectFailure;
  }

  /** Whether the server has decided about the queue file. Another socket is of no use then. */
  private boolean isAnswered() {
    return (long) QueueLayout.WORD.getAcquire(queue, QueueLayout.RESPONDER_STATE_OFFSET)
        != QueueLayout.PENDING;
  }

  /**
   * Whether the server's socket exists and may not be used. Both are found out by a single system
   * call, because a starting server may replace the socket between two calls.
   */
  public static boolean isForbidden(Path socket) {
    try {
      socket.getFileSystem().provider().checkAccess(socket, AccessMode.WRITE);
      return false;
    } catch (AccessDeniedException e) {
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public RemoteRegion reach(long key, boolean toWrite) {
    reachFailure = Status.REMOTE_ACCESS;
    unreached = "";
    try {
      RemoteRegion reached = view.reach(key, toWrite);
      unreached = reached == null ? view.unreached() : "";
      return reached;
    } catch (ShortenedFileException e) {
      reachFailure = Status.MEMORY_LOST;
      lostRegion(e.getMessage());
    } catch (AccessDeniedException e) {
      reachFailure = Status.DENIED;
      unreached = FileErrors.inWords(e);
    } catch (UntrustedFileException e) {
      reachFailure = Status.UNTRUSTED;
      unreached = FileErrors.inWords(e);
    }
    return null;
  }

  @Override
  public String unreached() {
    return unreached;
  }

  @Override
  public int reachFailure() {
    return reachFailure;
  }

  @Override
  public void leave(RemoteRegion region) {
    view.leave(region);
  }

  @Override
  public void supersede(RemoteRegion region) {
    view.supersede(region);
  }

  @Override
  public boolean isCurrent(long remoteKey) {
    return view == null || view.isCurrent(remoteKey);
  }

  @Override
  protected boolean openRegistry(long registryId) {
    reachFailure = Status.UNREACHABLE;
    if (socket == null) {
      // The server has accepted the queue file, and sees that the socket ended. Another attempt
      // needs another file.
      reachFailure = Status.TURNED_AWAY;
      failure = "its socket failed when it had just been accepted";
      return false;
    }
    try {
      view = ShmRegistryView.open(directory, registryId, server, file.arena(), new ReadAhead());
    } catch (AccessDeniedException e) {
      reachFailure = Status.DENIED;
    } catch (UntrustedFileException e) {
      reachFailure = Status.UNTRUSTED;
    } catch (UnmappedException e) {
      reachFailure = Status.LOCAL;
      failure = e.getMessage();
    }
    int version = view == null ? ShmRegistryView.version(directory) : QueueLayout.VERSION;
    if (version >= 0 && version != QueueLayout.VERSION) {
      failure = otherVersion(version);
      reachFailure = Status.INCOMPATIBLE;
    }
    return view != null;
  }

  @Override
  protected void ring() {
    if (socket != null && !socket.ring()) {
      lost();
    }
  }

  @Override
  protected void checkPeer() {
    long now = nanoTime.getAsLong();
    if (now - lastCheck >= PEER_CHECK_INTERVAL_NS) {
      lastCheck = now;
      drain();
    }
  }

  /**
   * Called when the socket has a wake-up, or has ended. A responder takes the wake-up only when it
   * arms all its queue pairs before the next sleep, and first checks for the message.
   */
  void onReadable() {
    rung = true;
    if (isRequester() || phase() != Phase.CONNECTED) {
      drain();
    } else {
      readable = true;
    }
  }

  @Override
  protected void takeRings() {
    if (readable) {
      drain();
    }
  }

  /**
   * Takes a wake-up of a connected peer that the selector has not reported. Returns whether one was
   * there.
   */
  boolean takeUnreportedRing() {
    if (isRequester() || phase() != Phase.CONNECTED || readable) {
      return false;
    }
    drain();
    return socket.hadRings();
  }

  private void drain() {
    readable = false;
    ShmSocket drained = socket;
    if (!drained.drain()) {
      lost();
      device.unwatch(drained.channel());
    }
  }

  /** Returns the longest sleep with which an attempt to connect makes progress and ends in time. */
  long bounded(long timeoutNs) {
    if (phase() != Phase.CONNECTING) {
      return timeoutNs;
    }
    long now = nanoTime.getAsLong();
    long untilDeadline = connectDeadline() - now;
    long until = socket == null ? Math.min(untilDeadline, nextAttempt - now) : untilDeadline;
    return Math.max(0, Math.min(timeoutNs, until));
  }

  @Override
  public boolean await(long timeoutNs) {
    long deadline = nanoTime.getAsLong() + timeoutNs;
    rung = false;
    long left = timeoutNs;
    while (left > 0 || left == timeoutNs) {
      long bounded = bounded(left);
      boolean woken = device.select(bounded);
      if (woken || rung || isBroken() || bounded < left) {
        return true;
      }
      left = deadline - nanoTime.getAsLong();
    }
    return false;
  }

  @Override
  public boolean isMemoryLost() {
    if (file == null || phase() == Phase.CLOSED || !file.isLost()) {
      return false;
    }
    lose();
    return true;
  }

  /**
   * Handles that the shared memory was replaced by private zeros. A requester goes on reading as if
   * the responder's process had ended: the regions can be READ as long as their keys are valid.
   */
  private void lose() {
    onMemoryLost();
    if (isRequester() && phase() == Phase.CONNECTED) {
      QueueLayout.WORD.setRelease(queue, QueueLayout.RESPONDER_STATE_OFFSET, QueueLayout.GONE);
    }
  }

  @Override
  protected void lookForShortening() {
    if (file != null && file.isShortened()) {
      lose();
    }
  }

  @Override
  public FailedStoreException storeFailure(RemoteRegion region) {
    return view == null ? null : view.storeFailure(region);
  }

  @Override
  public String failure() {
    return failure;
  }

  @Override
  public String describeLoss(RemoteRegion region) {
    return view == null ? null : view.describeLoss(region);
  }

  @Override
  public String peer() {
    return peer;
  }

  /**
   * Whether the requester of this responder has provably left. After that it can't store anything.
   */
  boolean peerLeft() {
    return file.isOwnerGone();
  }

  boolean isOf(String queueFileName) {
    return file != null && file.name().equals(queueFileName);
  }

  boolean isOf(UserPrincipal other) {
    return other.equals(user);
  }

  /** Gives up waiting for the peer to leave. */
  void forgetPeer() {
    file.forget();
  }

  /**
   * {@inheritDoc} The device knows the queue pair until all is released, so that the close of the
   * device does what an error kept this from doing.
   */
  @Override
  protected void release() {
    if (socket != null) {
      socket.close();
    }
    device.flushCancelled();
    if (last == null) {
      last = statistics();
    }
    if (view != null) {
      view.close();
    }
    if (file != null) {
      releaseFile();
    }
    device.forget(this, last);
  }

  private void releaseFile() {
    if (isRequester()) {
      if (server == null) {
        file.abandon();
      } else {
        file.remove();
      }
      directory.close();
    } else {
      file.unmap();
      device.departing(this);
    }
  }
}
