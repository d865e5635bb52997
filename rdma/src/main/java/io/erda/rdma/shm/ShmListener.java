package io.erda.rdma.shm;

import io.erda.pmem.FileErrors;
import io.erda.pmem.MemoryGuard;
import io.erda.pmem.libc.Libc;
import io.erda.rdma.ConnectionRequest;
import io.erda.rdma.Listener;
import io.erda.rdma.QueuePair;
import io.erda.rdma.rings.QueueLayout;
import io.erda.rdma.rings.RegistryLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Accepts connections in a device's directory: reads each HELLO, checks it and the queue file that
 * it names, and queues a request. The worst that a peer can cause by the bytes that it sends is
 * that its socket is closed. Owns its socket and the unanswered requests.
 */
public final class ShmListener implements Listener {
  private static final int POLLS_PER_CHECK = 64;
  private static final long CHECK_INTERVAL_NS = 200_000;
  private static final long HELLO_TIMEOUT_NS = 5_000_000_000L;
  private static final int WAITING_MAX = 256;
  private static final long NAME_LOOK_NS = 500_000_000L;

  /** The most sockets without a HELLO that one user other than the server's may have. */
  static final int SILENT_MAX = 32;

  /**
   * The most connections of one user other than the server's that ended here while the peer holds
   * its queue file. Each such connection costs a descriptor, and only the peer can release it.
   */
  public static final int DEPARTING_MAX = 64;

  private final ShmDevice device;
  private final ShmDirectory directory;
  private ServerSocketChannel server;

  /** The user that this process runs as. */
  private final UserPrincipal own;

  private final LongSupplier nanoTime;
  private final List<Handshake> handshakes = new ArrayList<>();
  private final ArrayDeque<Request> requests = new ArrayDeque<>();

  /** All requests that were not answered: those in the queue, and those that the caller has. */
  private final List<Request> unanswered = new ArrayList<>();

  private final MemoryGuard faults = new MemoryGuard();
  private boolean ready = true;
  private int polls;
  private long lastCheck;
  private long lastLook;

  /** Whether no peer can be accepted; this was reported. */
  private boolean failing;

  /** Whether the directory can't be found any more; this was reported. */
  private boolean lost;

  private boolean closed;

  ShmListener(ShmDevice device, ShmDirectory directory, UserPrincipal own, LongSupplier nanoTime)
      throws IOException {
    this.device = device;
    this.directory = directory;
    this.nanoTime = nanoTime;
    this.lastCheck = nanoTime.getAsLong();
    this.lastLook = lastCheck;
    this.own = own;
    this.server = ShmSocket.listen(directory);
    device.watchAccept(server, this);
  }

  /** A socket that has connected and has not sent HELLO yet. */
  private final class Handshake {
    final SocketChannel channel;
    final UserPrincipal user;
    final ByteBuffer hello = ByteBuffer.allocate(ShmSocket.HELLO_BYTES);
    final long deadline = nanoTime.getAsLong() + HELLO_TIMEOUT_NS;

    Handshake(SocketChannel channel) throws IOException {
      this.channel = channel;
      this.user = new ShmSocket(channel).peer();
    }

    /** Reads further bytes. Returns true when the peer has become a request, or was dropped. */
    boolean advance() {
      try {
        if (channel.read(hello) < 0
            || hello.hasRemaining() && nanoTime.getAsLong() - deadline >= 0) {
          channel.close();
          return true;
        }
        if (hello.hasRemaining()) {
          return false;
        }
        Request request = request();
        if (request == null) {
          channel.close();
        } else {
          requests.add(request);
          unanswered.add(request);
        }
      } catch (IOException e) {
        new ShmSocket(channel).close();
      }
      return true;
    }

    private Request request() throws IOException {
      String named = ShmSocket.helloName(hello);
      if (named == null || device.isConnected(named) || isWaiting(named) || hasDeparted(user)) {
        return null;
      }
      String name = SpareQueueFiles.isName(named) ? device.spares().lend(named) : named;
      if (name == null) {
        return null;
      }
      ShmSocket socket = new ShmSocket(channel);
      int version = ShmSocket.helloVersion(hello);
      QueueFile file;
      try {
        file =
            version == QueueLayout.VERSION
                ? QueueFile.open(directory, name, device.spares())
                : QueueFile.openHeader(directory, name, device.spares());
      } catch (AccessDeniedException e) {
        socket.deny();
        return null;
      }
      if (file == null) {
        return null;
      }
      Request request = null;
      try {
        // The guarded work loads only from the queue file, so a fault belongs to that file.
        request = faults.find(this, asked -> asked.request(file, socket, user, version));
        return request;
      } finally {
        if (request == null) {
          file.unmap();
          file.forget();
        }
      }
    }

    /** Returns null when the file is not that of a client that is connecting now. */
    private Request request(QueueFile file, ShmSocket socket, UserPrincipal user, int version)
        throws IOException {
      MemorySegment queue = file.queue();
      MemorySegment data = QueueLayout.privateData(queue, QueueLayout.REQUESTER_DATA_OFFSET);
      boolean fresh =
          (long) QueueLayout.WORD.getAcquire(queue, QueueLayout.RESPONDER_STATE_OFFSET)
              == QueueLayout.PENDING;
      boolean sound =
          version == QueueLayout.VERSION
              ? QueueLayout.validate(queue) == null
              : QueueLayout.version(queue) == version;
      return !sound || data == null || !fresh || !mayName(user, file) || file.isOwnerGone()
          ? null
          : new Request(file, socket, user, version, copied(data));
    }

    /**
     * Whether a queue file is the peer's own, or one that this server lent to it. A peer could name
     * another file to have it overwritten.
     */
    private boolean mayName(UserPrincipal user, QueueFile file) throws IOException {
      int owner = file.attributes().userId();
      return owner == Libc.effectiveUser()
          || owner == directory.attributes().userId()
          || file.owner().equals(user);
    }
  }

  /** Copies private data, so that the peer can neither change nor remove it any more. */
  private static MemorySegment copied(MemorySegment data) {
    MemorySegment copy = MemorySegment.ofArray(new long[(int) (data.byteSize() + 7 >> 3)]);
    return copy.asSlice(0, data.byteSize()).copyFrom(data);
  }

  private boolean isWaiting(String name) {
    for (Request request : unanswered) {
      if (request.file.name().equals(name)) {
        return true;
      }
    }
    return false;
  }

  /** Notes that a socket of the listener is ready. */
  void onReady() {
    ready = true;
  }

  /**
   * Called when the device has slept, so that the number of polls says nothing about the time that
   * has passed. After a wake-up the second poll checks for peers, and after any other sleep the
   * first poll does, because an accept without a peer costs the kernel a socket.
   */
  void onAwake(boolean woken) {
    polls = woken && polls != -1 ? -2 : -1;
  }

  boolean hasRequests() {
    return !requests.isEmpty();
  }

  @Override
  public ConnectionRequest poll() {
    if (closed) {
      return null;
    }
    if (ready
        || (++polls & POLLS_PER_CHECK - 1) == 0
            && nanoTime.getAsLong() - lastCheck >= CHECK_INTERVAL_NS) {
      lastCheck = nanoTime.getAsLong();
      ready = false;
      advance();
      if (lastCheck - lastLook >= NAME_LOOK_NS) {
        lastLook = lastCheck;
        look();
      }
      device.askDeparting();
      device.spares().tend(lastCheck, name -> device.isConnected(name) || isWaiting(name));
    }
    return requests.poll();
  }

  /** Accepts the next peer. Returns null when no peer waits. */
  private SocketChannel accept() throws IOException {
    try {
      return server.accept();
    } catch (IOException e) {
      tellFailing("accept", e);
      throw e;
    }
  }

  /** Reports that no peer can be accepted, once until one is. */
  private void tellFailing(String step, IOException e) {
    if (!failing) {
      failing = true;
      device
          .told()
          .trouble(
              "no client can connect in "
                  + directory.path()
                  + ", until that is over: "
                  + step
                  + ": "
                  + FileErrors.inWords(e));
    }
  }

  private void tellAccepting() {
    if (failing) {
      failing = false;
      device.told().trouble("clients can connect in " + directory.path() + " again");
    }
  }

  /**
   * Checks whether peers still find the socket and the registry. A socket that was removed is made
   * again. A registry, by which clients find the regions, is not, nor a directory, with which it
   * was removed.
   */
  private void look() {
    if (lost) {
      return;
    }
    String removed = null;
    try {
      String gone =
          directory.isFound()
              ? lostRegistry()
              : "the directory " + directory.path() + " was removed or replaced";
      if (gone != null) {
        lost = true;
        device
            .told()
            .trouble(
                gone
                    + ": clients of this host that are connected go on, and no other can connect"
                    + " until the server is started again");
      } else if (directory.attributes(ShmSocket.FILE) == null) {
        removed = directory.file(ShmSocket.FILE) + " was removed: ";
        listenAgain();
        device.told().trouble(removed + "it was made anew, and clients can connect");
      }
    } catch (IOException e) {
      // When the directory can't be examined nothing is reported; only a failure to make the socket
      // again is.
      if (removed != null && !failing) {
        failing = true;
        device
            .told()
            .trouble(removed + "no client can connect, until it is made: " + FileErrors.inWords(e));
      }
    }
  }

  /** Returns in words what has happened to the registry; null when clients find it. */
  private String lostRegistry() throws IOException {
    ShmDirectory.Attributes found = directory.attributes(ShmRegistry.FILE);
    if (found != null && found.bytes() >= RegistryLayout.BYTES) {
      return null;
    }
    return directory.file(ShmRegistry.FILE) + " was removed or shortened";
  }

  private void listenAgain() throws IOException {
    ServerSocketChannel again = ShmSocket.listen(directory);
    ServerSocketChannel before = server;
    device.watchAccept(again, this);
    server = again;
    before.close();
    device.flushCancelled();
    failing = false;
    ready = true;
  }

  private void advance() {
    boolean decided = false;
    try {
      for (int i = 0; i < WAITING_MAX && handshakes.size() + unanswered.size() < WAITING_MAX; i++) {
        SocketChannel channel = accept();
        if (channel == null) {
          break;
        }
        decided |= begin(channel);
        tellAccepting();
      }
    } catch (IOException e) {
      // There are no descriptors left, or the peer has left. The next poll tries again.
    }
    for (Iterator<Handshake> all = handshakes.iterator(); all.hasNext(); ) {
      if (all.next().advance()) {
        all.remove();
        decided = true;
      }
    }
    if (decided) {
      device.flushCancelled();
      device.spares().changed();
    }
  }

  /**
   * Takes a socket. Returns whether a peer was accepted or dropped. Usually HELLO comes together
   * with the socket. Silent peers must not keep others out, so each user may have only a few, and
   * the oldest is dropped.
   */
  private boolean begin(SocketChannel channel) throws IOException {
    Handshake added;
    try {
      channel.configureBlocking(false);
      added = new Handshake(channel);
      device.watchHello(channel, this);
    } catch (IOException e) {
      new ShmSocket(channel).close();
      tellFailing("the socket of a client", e);
      throw e;
    }
    if (added.advance()) {
      return true;
    }
    handshakes.add(added);
    return !added.user.equals(own) && dropOldest(added.user);
  }

  /** Drops the socket that has been silent for longest if its user has too many. */
  private boolean dropOldest(UserPrincipal user) {
    Handshake oldest = null;
    int silent = 0;
    for (Handshake each : handshakes) {
      if (each.user.equals(user)) {
        oldest = oldest == null ? each : oldest;
        silent++;
      }
    }
    if (silent <= SILENT_MAX) {
      return false;
    }
    handshakes.remove(oldest);
    new ShmSocket(oldest.channel).close();
    return true;
  }

  /** Whether a user's clients hold the queue files of too many connections that ended here. */
  private boolean hasDeparted(UserPrincipal user) {
    if (user.equals(own) || device.departing(user) < DEPARTING_MAX) {
      return false;
    }
    device.askDeparting();
    return device.departing(user) >= DEPARTING_MAX;
  }

  @Override
  public String address() {
    return directory.path().toString();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      directory.delete(ShmSocket.FILE);
      server.close();
    } catch (IOException e) {
      // The next server will replace the socket.
    }
    for (Handshake handshake : handshakes) {
      new ShmSocket(handshake.channel).close();
    }
    for (Request request : unanswered) {
      request.answered = true;
      request.drop();
    }
    requests.clear();
    unanswered.clear();
    device.forget(this);
  }

  private final class Request implements ConnectionRequest {
    private final QueueFile file;
    private final ShmSocket socket;
    private final MemorySegment privateData;
    private final UserPrincipal user;
    private final long pid;
    private final int version;
    private boolean answered;

    Request(
        QueueFile file,
        ShmSocket socket,
        UserPrincipal user,
        int version,
        MemorySegment privateData) {
      this.file = file;
      this.version = version;
      this.user = user;
      this.socket = socket;
      this.privateData = privateData;
      this.pid = file.queue().get(QueueLayout.LONG, QueueLayout.PID_OFFSET);
    }

    @Override
    public MemorySegment privateData() {
      return privateData;
    }

    @Override
    public String peer() {
      // The user comes from the kernel, but the process ID comes from the peer.
      return "process " + pid + " of user " + user.getName();
    }

    @Override
    public String user() {
      return user.equals(own) ? null : user.getName();
    }

    @Override
    public String otherVersion() {
      return version == QueueLayout.VERSION
          ? null
          : "version %d of shm/, this server version %d".formatted(version, QueueLayout.VERSION);
    }

    @Override
    public QueuePair accept(MemorySegment ofOurs) {
      if (version != QueueLayout.VERSION) {
        throw new IllegalStateException("the peer has " + otherVersion());
      }
      answer();
      store(ofOurs);
      ShmQueuePair queuePair = device.accept(file, socket, peer(), user);
      boolean told =
          faults.attempt(
              queuePair,
              accepted -> {
                setState(QueueLayout.OPEN);
                accepted.ringIfAsleep();
              });
      if (!told && !queuePair.isMemoryLost()) {
        // It is unknown whether the peer learned of the acceptance.
        queuePair.breakOff();
      }
      return queuePair;
    }

    private void store(MemorySegment ofOurs) {
      boolean stored =
          faults.attempt(
              file.queue(),
              queue -> {
                QueueLayout.setPrivateData(queue, QueueLayout.RESPONDER_DATA_OFFSET, ofOurs);
                QueueLayout.WORD.setRelease(
                    queue, QueueLayout.REGISTRY_ID_OFFSET, device.registryId());
              });
      if (!stored) {
        // Later stores go to zeros that only this process sees, or fail as well.
        file.isLost();
      }
    }

    @Override
    public void reject(MemorySegment ofOurs) {
      answer();
      store(ofOurs);
      // If the state can't be stored, the peer learns of the refusal by the end of its socket.
      boolean ignored = faults.attempt(this, refused -> refused.setState(QueueLayout.REFUSED));
      drop();
    }

    private void setState(long state) {
      QueueLayout.WORD.setRelease(file.queue(), QueueLayout.RESPONDER_STATE_OFFSET, state);
    }

    private void answer() {
      if (answered) {
        throw new IllegalStateException("the request was answered before");
      }
      answered = true;
      unanswered.remove(this);
    }

    /** Drops the request. The peer learns that by the end of its socket. */
    void drop() {
      socket.close();
      device.flushCancelled();
      file.unmap();
      file.forget();
    }
  }
}
