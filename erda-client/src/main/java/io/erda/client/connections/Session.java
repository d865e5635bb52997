package io.erda.client.connections;

import io.erda.logstore.LogGeometry;
import io.erda.pmem.MemoryGuard;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Handshake;
import io.erda.protocol.Handshake.Refusal;
import io.erda.protocol.Handshake.Welcome;
import io.erda.protocol.Message;
import io.erda.protocol.PutMode;
import io.erda.protocol.Result;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import java.lang.foreign.MemorySegment;

/**
 * One connection, with all state that is valid only in this connection: the server's welcome, the
 * region map, the leases, the outstanding requests. Owns its queue pair.
 *
 * <p>The client checks every message of the server before it uses it; an invalid message ends the
 * connection. A connection is never ended from within a completion: see {@link SessionState}.
 */
public final class Session implements CompletionHandler {
  /** Receives the events of a connection that concern operations. */
  interface Listener {
    /** A READ of the operation in a slot completed. */
    void onRead(int slot, long serial);

    void onReadFailed(int slot, long serial, int status);

    void onWriteFailed(int slot, long serial, int status);

    /** The request of a slot was answered; {@code length} has been compared with the header. */
    void onResponse(
        Session of, int slot, int type, int result, MemorySegment memory, long base, int length);

    /** There may be space in the log of a head now. */
    void onLease(Session of, int head);

    /** The server has no room for {@code asked} bytes. */
    void onLeaseRefused(Session of, int head, int asked, int result);

    /** A newer region map has come. */
    void onMap(Session of);

    /**
     * Returns the newest message that the server may have taken and has not answered; 0 when there
     * is none.
     */
    long newestTaken(Session of);
  }

  /** How often a client without a server checks that the store still exists, in nanoseconds. */
  private static final long LOOK_NS = 100_000_000;

  /** The shortest time between two reports of pending words. */
  private static final long REPORT_NS = 1_000_000;

  private static final int POLL_LIMIT = 64;

  public final QueuePair queuePair;
  public final Requests requests;

  /**
   * The error that prevented a connection with the server, so that this session reads the store's
   * files; null for a session with a server.
   */
  final ErdaException insteadOf;

  final long startedNs;

  /** Whether the device lets READs go on when the server is gone. */
  public final boolean readsOutlive;

  // The following fields are null, or 0, before the welcome.
  public Welcome welcome;
  public LogGeometry geometry;
  public long rootKey;
  public Leases leases;

  /** Publishes puts without a message; null when each put needs one. */
  public LocalPublisher.Line line;

  /** The newest complete region map; null before the first. */
  public RegionMap map;

  /**
   * The structure counter that a completed root READ of this connection showed last; odd before the
   * first. See {@code Get}.
   */
  public long counterSeen = -1;

  private final ClientContext context;
  private final Listener listener;
  private final SessionState state;
  private final MemoryGuard faults = new MemoryGuard();
  private MapFetch mapFetch;
  private boolean announces;

  /** How the attempt to connect ended. */
  private int connectStatus = Status.SUCCESS;

  private long lookedNs;
  private long reportedNs;
  private boolean released;

  /**
   * @param operations how many slots the operations of the client have
   * @param insteadOf why there is no connection with the server, when this one reads the files;
   *     null for a connection with the server
   */
  Session(
      ClientContext context,
      QueuePair queuePair,
      int operations,
      Listener listener,
      ErdaException insteadOf) {
    this.context = context;
    this.insteadOf = insteadOf;
    this.queuePair = queuePair;
    this.listener = listener;
    this.startedNs = context.now();
    this.lookedNs = startedNs;
    this.reportedNs = startedNs - REPORT_NS;
    this.readsOutlive = insteadOf == null && context.device().readsOutlivePeer();
    this.state = new SessionState(context, queuePair, readsOutlive);
    this.requests = new Requests(context, queuePair, state, operations);
  }

  /** Whether puts are announced first, so that readers examine pending versions. */
  public boolean announces() {
    return announces;
  }

  public boolean ready() {
    return state.isReady();
  }

  /** Whether READs may be posted. */
  public boolean readable() {
    return state.isReady() || (state.isLostAndReadable() && isStoreThere());
  }

  /**
   * Whether a store without a server still exists. Without this check a client would read a deleted
   * or replaced store for ever.
   */
  private boolean isStoreThere() {
    long now = context.now();
    if (now - lookedNs >= LOOK_NS) {
      lookedNs = now;
      if (!queuePair.isCurrent(rootKey)) {
        fail("the store at " + context.address() + " was deleted or replaced");
        return false;
      }
    }
    return true;
  }

  public boolean failed() {
    return state.isOver();
  }

  /** Whether the server left after the connection was ready, so that only READs may go on. */
  boolean isLost() {
    return state.isLost();
  }

  boolean waitable() {
    return state.isWaitable();
  }

  public String reason() {
    return state.reason();
  }

  /** Whether the server ended the connection after it had taken it. */
  boolean isLeftByServer() {
    return state.isLeftByServer() || connectStatus == Status.TURNED_AWAY;
  }

  ErdaException failure() {
    return state.failure();
  }

  /** Marks the connection as unusable. */
  public void fail(String why) {
    state.fail(why);
  }

  /** Gives the connection up, and takes back the requests that the server has not taken. */
  public void leave(String why) {
    state.leave(why);
  }

  // Requests that are outstanding when the connection ends.

  /**
   * Whether the operations must now be told that the connection ended: the outcome of their
   * requests is known, or the client has waited for it long enough. Returns true only once.
   */
  boolean takeUnsettled() {
    if (!state.unsettled()) {
      return false;
    }
    state.withdrawal();
    if (mayHearMore()) {
      context.attention().ask();
      return false;
    }
    state.settle();
    return true;
  }

  /** Whether requests without an answer may still get one, so that waiting is useful. */
  private boolean mayHearMore() {
    long newest = state.isListening() ? listener.newestTaken(this) : 0;
    if (newest == 0) {
      return false;
    }
    // Check first what is finished, then what was answered: the server answers a request before it
    // finishes it.
    boolean finished = state.withdrawal().isFinished(newest);
    poll();
    return !finished && listener.newestTaken(this) != 0 && state.withdrawal().isPatient();
  }

  /** Whether the server provably never takes the request of a slot. REQUIRES: the session ended. */
  public boolean neverTaken(int slot) {
    return state.withdrawal().neverTaken(requests.message(slot));
  }

  /**
   * The exception for the request of a slot, which the server may have taken.
   *
   * @param decides whether the operation is decided when the server has finished with the request
   */
  public ErdaException.OutcomeUnknown unknown(int slot, String what, boolean decides) {
    Withdrawal withdrawal = state.withdrawal();
    boolean last = decides && withdrawal.isFinished(requests.message(slot));
    return new ErdaException.OutcomeUnknown(
        what
            + " was sent when the connection ended: "
            + state.reason()
            + (last ? "; it took effect or never will" : "; " + begun(withdrawal)),
        last);
  }

  private static String begun(Withdrawal withdrawal) {
    return (withdrawal.isAnswered()
            ? "the server had begun with it"
            : "nobody could be asked whether the server had begun with it")
        + ", and it may still take effect";
  }

  // Completions.

  public int poll() {
    int done = faults.step(this, session -> session.queuePair.poll(session, POLL_LIMIT));
    if (done == MemoryGuard.FAULT) {
      state.failAfter(faults.fault());
      return 1;
    }
    return done;
  }

  /**
   * Makes the next completion wake the thread. Returns false when there may be a completion
   * already, or when the memory of the connection failed ({@link QueuePair#arm}).
   */
  boolean arm() {
    int armed = faults.step(queuePair, pair -> pair.arm() ? 1 : 0);
    if (armed == MemoryGuard.FAULT) {
      state.failAfter(faults.fault());
    }
    return armed == 1;
  }

  /** Posts work that was refused before. Returns whether some remains. */
  boolean retryDeferred() {
    if (!state.hasServer()) {
      return false;
    }
    boolean receivesRemain = requests.retryReceives();
    boolean mapRemains = mapFetch.retryDeferred();
    boolean leasesRemain = leases.retryDeferred();
    return receivesRemain || mapRemains || leasesRemain;
  }

  @Override
  public void onCompletion(long wrId, int opcode, int status, int byteLength, int imm) {
    if (opcode == Opcode.READ && status == Status.SUCCESS) {
      listener.onRead(WorkId.slot(wrId), WorkId.serial(wrId));
    } else if (state.isFailed()) {
      // The session has ended.
      return;
    } else if (opcode == Opcode.RECEIVE && status == Status.SUCCESS) {
      onReceive((int) wrId, byteLength);
    } else {
      onOther(wrId, opcode, status);
    }
  }

  private void onOther(long wrId, int opcode, int status) {
    switch (opcode) {
      case Opcode.CONNECT -> onConnect(status);
      case Opcode.DISCONNECT -> state.disconnect(gone());
      case Opcode.READ -> listener.onReadFailed(WorkId.slot(wrId), WorkId.serial(wrId), status);
      case Opcode.WRITE -> {
        if (status == Status.REMOTE_ACCESS
            || status == Status.DENIED
            || status == Status.UNTRUSTED
            || status == Status.NO_SPACE
            || status == Status.MEMORY_LOST) {
          listener.onWriteFailed(WorkId.slot(wrId), WorkId.serial(wrId), status);
        } else if (status != Status.SUCCESS) {
          onBroken("a WRITE", status);
        }
      }
      case Opcode.SEND, Opcode.RECEIVE -> {
        if (status != Status.SUCCESS) {
          onBroken(opcode == Opcode.SEND ? "a SEND" : "a RECEIVE", status);
        }
      }
      case Opcode.RECEIVE_IMM ->
          fail("the server sent a WRITE with immediate data, which was not agreed");
      default -> fail("a completion of opcode " + opcode + ", " + Status.name(status));
    }
  }

  private void onBroken(String what, int status) {
    if (status == Status.FLUSHED || status == Status.FENCED) {
      // The server left, or takes no more requests of this client. The next READ shows whether
      // READs still work.
      state.lose(
          "the connection to the server at "
              + context.address()
              + " ended ("
              + what
              + ": "
              + Status.name(status)
              + ")"
              + more());
    } else {
      fail(what + " ended with: " + Status.name(status));
    }
  }

  private void onReceive(int receive, int byteLength) {
    int slot = requests.accept(receive, byteLength);
    if (slot < 0) {
      return;
    }
    MemorySegment memory = requests.memory;
    long base = requests.receiveAt(receive);
    int type = Message.type(memory, base);
    int result = Message.result(memory, base);
    if (!requests.isControl(slot)) {
      listener.onResponse(this, slot, type, result, memory, base, byteLength);
    } else if (type == Message.LEASE) {
      onLeaseResponse(slot, result, memory, base);
    } else if (type == Message.MAP) {
      publishMap(mapFetch.onPage(requests.askedIn(slot), result, memory, base, byteLength));
    }
    // The client ignores the answers to END, which may say that the extent was unknown, and to
    // LEFT.
    requests.postReceive(receive);
  }

  // Connecting.

  /**
   * Whether the files of the store may be readable although there is no server, or the server does
   * not accept this user.
   */
  boolean mayReadInstead() {
    return connectStatus == Status.UNREACHABLE
        || connectStatus == Status.DENIED
        || connectStatus == Status.TAKEN;
  }

  /** Whether the two ends did not agree on encryption. */
  boolean isDisagreement() {
    return connectStatus == Status.ENCRYPTION;
  }

  private void onConnect(int status) {
    connectStatus = status;
    if (!state.isConnecting()) {
      fail("connected twice");
      return;
    }
    switch (status) {
      case Status.SUCCESS -> onWelcome(queuePair.privateData());
      case Status.REJECTED -> onRefusal(queuePair.privateData());
      case Status.UNREACHABLE -> fail("no server is there" + more());
      case Status.CLOSED, Status.TURNED_AWAY ->
          fail(queuePair.failure().isEmpty() ? Status.name(status) : queuePair.failure());
      case Status.TIMEOUT ->
          fail(
              "no answer within " + context.options().connectTimeout().toMillis() + " ms" + more());
      case Status.DENIED,
          Status.UNTRUSTED,
          Status.TAKEN,
          Status.SECRET,
          Status.INCOMPATIBLE,
          Status.ENCRYPTION -> {
        // Another attempt would be refused in the same way, so no operation waits for one.
        String text = "no connection to " + context.address() + ": " + why(status) + more();
        state.failWith(new ErdaException.Refused(text), text);
      }
      case Status.NO_SPACE -> {
        String text = "no connection to " + context.address() + ": " + Status.name(status) + more();
        state.failWith(new ErdaException.Full(ErdaException.Full.What.DISK, text), text);
      }
      case Status.UNWRITABLE -> {
        String text = "no connection to " + context.address() + ": " + Status.name(status) + more();
        state.failWith(new ErdaException.ReadOnly(text), text);
      }
      default -> fail(Status.name(status) + more());
    }
  }

  private String gone() {
    return queuePair.failure().isEmpty()
        ? "the server at " + context.address() + " is gone"
        : "the connection to " + context.address() + " ended" + more();
  }

  /** The reason that the device gives, after a colon; empty when it gives none. */
  private String more() {
    String failure = queuePair.failure();
    return failure.isEmpty() ? "" : ": " + failure;
  }

  private String why(int status) {
    return switch (status) {
      case Status.DENIED ->
          context.device().readsOnly()
              ? "permission denied: this user may not read the files of the store (./erda server"
                  + " --group, --mode)"
              : "permission denied: this user may not use the store, or its server may not use what"
                  + " this user makes there (./erda server --group, --mode)";
      case Status.TAKEN -> "the store is " + Status.name(status);
      default -> Status.name(status);
    };
  }

  private void onRefusal(MemorySegment data) {
    if (data.byteSize() == 0) {
      // The server gave no reason for refusing this client, so it had not decided.
      fail("the server ended, or was closed, before it had decided about this client" + more());
      return;
    }
    Refusal refusal = Handshake.decodeRefusal(data);
    String text =
        refusal == null
            ? "the connection was refused with "
                + data.byteSize()
                + " bytes that are no refusal of Erda's"
            : refusal.text();
    ErdaException why =
        refusal != null && refusal.reason() == Refusal.CONNECTIONS
            ? new ErdaException.Full(ErdaException.Full.What.CONNECTIONS, text)
            : new ErdaException.Refused(text);
    state.failWith(why, text);
  }

  private void onWelcome(MemorySegment data) {
    Welcome said = Handshake.decodeWelcome(data);
    String wrong =
        WelcomeCheck.wrong(
            said, data.byteSize(), context.options().required(), context.store().id());
    if (wrong != null) {
      state.failWith(
          new ErdaException.Refused("the server at " + context.address() + " sent " + wrong),
          wrong);
      return;
    }
    welcome = said;
    geometry = WelcomeCheck.geometry(said);
    announces = said.putMode() == PutMode.ANNOUNCE.code();
    if (context.publisher() != null && !announces) {
      line = context.publisher().line(said.clientId(), said.connectionEpoch());
    } else if (said.commitsKey() != 0 && !announces) {
      line = new CommitLine(this, said.commitsKey(), said.commitsLine());
    }
    rootKey = said.rootKey();
    requests.welcome(said);
    mapFetch = new MapFetch(state, requests, context.attention(), said.incarnation(), geometry);
    leases = new Leases(context, state, requests, mapFetch, geometry);
    state.welcomed();
    refreshMap();
  }

  /**
   * Tells the server, now and then, that the object of a pending word was not whole. Most such
   * objects are just being written, and need no report.
   */
  public void report(long keyWord, int offset) {
    long now = context.now();
    if (ready() && now - reportedNs >= REPORT_NS) {
      reportedNs = now;
      requests.sendReport(keyWord, offset);
    }
  }

  // The region map and the leases.

  /** Fetches the map, unless a fetch is under way. Returns false when there is no server to ask. */
  public boolean refreshMap() {
    return mapFetch.begin();
  }

  /**
   * @param complete null when pages are missing
   */
  private void publishMap(RegionMap complete) {
    if (complete == null) {
      return;
    }
    RegionMap old = map;
    map = complete;
    context.counts().mapRefreshes++;
    leases.onMap(complete);
    for (int head = 0; head < geometry.heads(); head++) {
      if (leases.look(head)) {
        listener.onLease(this, head);
      }
    }
    if (old != null && old.forgetMissing(complete, queuePair)) {
      requests.sendLeft(complete.epoch);
    }
    state.mapped();
    listener.onMap(this);
  }

  private void onLeaseResponse(int slot, int result, MemorySegment memory, long base) {
    int head = requests.headOf(slot);
    int asked = requests.askedIn(slot);
    Leases.Answer answer = leases.onResponse(head, asked, result, memory, base);
    if (answer == Leases.Answer.ARRIVED) {
      listener.onLease(this, head);
    } else if (answer == Leases.Answer.REFUSED) {
      if (result == Result.DISK_FULL) {
        // The file of a cleaned region takes disk space as long as a process maps it. The newest
        // map tells this client which files it need not map any more.
        refreshMap();
      }
      listener.onLeaseRefused(this, head, asked, result);
    }
  }

  // The end.

  /**
   * Ends the connection because a newer one has replaced it. Answers that have come are handled.
   */
  void replace() {
    if (state.isLeaving()) {
      poll();
    }
    close();
  }

  /** Ends the connection and releases what it holds. Idempotent. Not from within a completion. */
  void close() {
    if (!released) {
      state.close();
      queuePair.close();
      released = true;
      requests.release();
    }
  }
}
