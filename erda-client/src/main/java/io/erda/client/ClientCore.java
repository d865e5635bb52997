package io.erda.client;

import io.erda.hashtable.KeyHash;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import io.erda.pmem.Backing;
import io.erda.protocol.ErdaException;
import io.erda.protocol.ErdaException.Full.What;
import io.erda.protocol.Handshake;
import io.erda.protocol.Handshake.Hello;
import io.erda.protocol.Handshake.Welcome;
import io.erda.protocol.Protocol;
import io.erda.protocol.Result;
import io.erda.rdma.Access;
import io.erda.rdma.Device;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.QueuePair;
import java.lang.foreign.MemorySegment;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Drives the operations of one client over its current connection, and makes a new one when an
 * operation needs it. Borrows its device. One thread. Only {@link #await} sleeps, and only the
 * blocking façades call it.
 *
 * <p>{@link #doWork()} is short while all goes well: poll. Whatever asks for more sets {@link
 * #attention}.
 */
final class ClientCore {
  private static final long RECONNECT_PAUSE_NS = 10_000_000;
  private static final long AWAIT_WITH_ATTENTION_NS_MAX = 200_000;
  private static final int READ_BYTES_DECAY_SHIFT = 7;

  final Device device;
  final String address;
  final ClientOptions options;
  final LongSupplier nanoTime;
  private final long processId;

  /** What a handler has not heard yet; null without one: then who began an operation looks. */
  private final Outcomes outcomes;

  /** All slots: gets, then puts, then the query. */
  final Operation[] operations;

  final Get[] gets;
  private final Put[] puts;
  final StatsQuery query;

  /** The current connection; null before the first and between two. */
  private Session session;

  /** The connection that is being made; null when none is. */
  private Session connecting;

  private ErdaException connectFailure;
  private String lastLoss = "none was made yet";
  private long connectNotBeforeNs;
  private long attempts;
  private boolean connectPaused;

  // Of the store, known and constant from the first connection on.
  UUID store;
  KeyHash keyHash;
  int heads;
  private Welcome welcome;

  boolean attention;

  /** A connection has something to post that was refused. */
  private boolean deferred;

  private boolean unstamped;
  private long nextDeadlineNs;
  private int active;
  private long order;
  private boolean closed;

  /**
   * How much of an object the first READ fetches: a decaying maximum of the sizes that were met. A
   * multiple of 8.
   */
  int readBytes;

  private long getsDone;

  /** Each of one look-up and one READ of an object. */
  private long getsNow;

  private long absent;
  private long putsDone;
  private long deletesDone;
  private long connections;
  long lookUps;
  long objectReads;
  long secondReads;
  long invalidObjects;
  long absenceRetries;
  long mapRefreshes;
  long leases;

  /** Why the server refused the request whose response is being handled; empty when not said. */
  String reason = "";

  long rewrites;
  long resolves;

  /**
   * @param handler hears how operations end, or null: then whoever began one looks at it
   */
  ClientCore(
      Device device,
      String address,
      ClientOptions options,
      LongSupplier nanoTime,
      long processId,
      int depth,
      OperationHandler handler) {
    this.device = device;
    this.address = address;
    this.options = options;
    this.nanoTime = nanoTime;
    this.processId = processId;
    this.readBytes = ObjectLayout.padded(options.readBytes());
    operations = new Operation[2 * depth + 1];
    gets = new Get[depth];
    puts = new Put[depth];
    for (int i = 0; i < depth; i++) {
      operations[i] = gets[i] = new Get(this, i);
      operations[depth + i] = puts[i] = new Put(this, depth + i);
    }
    query = new StatsQuery(this, 2 * depth);
    operations[2 * depth] = query;
    outcomes = handler == null ? null : new Outcomes(this, handler, operations.length);
  }

  // What façades use.

  /** A free slot, or null. */
  Get freeGet() {
    requireOpen();
    for (Get get : gets) {
      if (get.step == Operation.IDLE) {
        get.prepare();
        return get;
      }
    }
    return null;
  }

  /** A free slot, or null. */
  Put freePut() {
    requireOpen();
    for (Put put : puts) {
      if (put.step == Operation.IDLE) {
        return put;
      }
    }
    return null;
  }

  void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the client is closed");
    }
  }

  /**
   * @throws ErdaException.BadSize when it is empty or longer than the store takes
   */
  void requireKey(long length) {
    int max = welcome == null ? Protocol.KEY_BYTES_MAX : welcome.keyBytesMax();
    if (length < 1 || length > max) {
      throw badKey(length, max);
    }
  }

  /**
   * @throws ErdaException.BadSize when it is longer than the store takes
   */
  void requireValue(long keyLength, long length) {
    long max = welcome == null ? ObjectLayout.VALUE_BYTES_MAX : valueBytesMax(keyLength);
    if (length > max) {
      throw badValue(length, max);
    }
  }

  static ErdaException.BadSize badKey(long length, int max) {
    return new ErdaException.BadSize("key of " + length + " bytes; this store takes 1 to " + max);
  }

  private static ErdaException.BadSize badValue(long length, long max) {
    return new ErdaException.BadSize(
        "value of " + length + " bytes; this store takes 0 to " + max + " with this key");
  }

  /** Both what the server allows and what fits a segment that begins with a region's header. */
  private long valueBytesMax(long keyLength) {
    long room =
        welcome.segmentBytes() - Region.HEADER_BYTES - ObjectLayout.HEADER_BYTES - keyLength;
    // Padding never needs more: what an object may take of a segment is a multiple of the
    // alignment.
    return Math.min(welcome.valueBytesMax(), room);
  }

  /**
   * What of a put that was submitted before the first connection the store does not take; null when
   * it does.
   */
  ErdaException unfit(int keyLength, int valueLength) {
    if (keyLength > welcome.keyBytesMax()) {
      return badKey(keyLength, welcome.keyBytesMax());
    }
    return valueLength > valueBytesMax(keyLength)
        ? badValue(valueLength, valueBytesMax(keyLength))
        : null;
  }

  /** Of the store; null before the first connection. */
  Welcome welcome() {
    return welcome;
  }

  int active() {
    return active;
  }

  boolean connected() {
    return session != null;
  }

  /** Why the last attempt to connect failed; null when none did since it began. */
  ErdaException connectFailure() {
    return connectFailure;
  }

  /** How often it was begun to connect. */
  long attempts() {
    return attempts;
  }

  String lastLoss() {
    return lastLoss;
  }

  /** Begins to connect, unless that is under way. */
  void connect() {
    if (connecting == null) {
      connectFailure = null;
      attempts++;
      Hello hello =
          new Hello(
              Protocol.VERSION, Protocol.LAYOUT_VERSION, options.required(), processId, store);
      QueuePair queuePair =
          device.connect(address, Handshake.encode(hello), options.connectTimeout());
      connecting = new Session(this, queuePair, operations.length, device.readsOutlivePeer());
      attention = true;
    }
  }

  /** Advances everything. Returns how much was done; 0: nothing, for now. Never blocks. */
  int doWork() {
    int work = 0;
    Session current = session;
    if (current != null) {
      work = current.poll();
    }
    if (attention) {
      work += attend();
    }
    if (work == 0) {
      work = expire();
    }
    return outcomes == null ? work : work + outcomes.tell();
  }

  /** Throws what the handler threw in {@link #doWork}, {@link #await} or {@link #close}. */
  void rethrow() {
    outcomes.rethrow();
  }

  /** Sleeps until something completes or the time passes. Real threads only. */
  void await(long timeoutNs) {
    Session current = session != null && session.waitable() ? session : null;
    boolean armed = (current == null || current.arm()) && (connecting == null || connecting.arm());
    if (!armed || doWork() > 0) {
      return;
    }
    long ns = wakesItself() ? Math.min(timeoutNs, AWAIT_WITH_ATTENTION_NS_MAX) : timeoutNs;
    // What was armed may be closed by now.
    if (session == current && current != null && current.waitable() && connecting == null) {
      current.queuePair.await(ns);
    } else if (connecting != null && (session == null || !session.waitable())) {
      connecting.queuePair.await(ns);
    } else {
      pause(Math.min(ns, AWAIT_WITH_ATTENTION_NS_MAX));
    }
  }

  /**
   * Whether something is to be done that no completion announces: to post what was refused, to go
   * on after a pause, to connect again. A client that is only connecting has nothing of that: where
   * many are, each would take from the server's core what it waits for.
   */
  private boolean wakesItself() {
    if (!attention) {
      return false;
    }
    boolean wakes = deferred;
    for (Operation each : operations) {
      wakes |=
          each.stalled
              || each.step == Operation.BACKOFF
              || each.step == Operation.WAIT_SESSION && connecting == null;
    }
    return wakes;
  }

  /** A thread whose interrupt status is set would not pause: it is set afterwards. */
  private static void pause(long ns) {
    boolean interrupted = Thread.interrupted();
    LockSupport.parkNanos(ns);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends the connection; what is in flight ends in error. Idempotent. */
  void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      if (session != null) {
        session.leave("the client was closed");
      }
      if (connecting != null) {
        connecting.fail("the client was closed");
      }
      failAll();
      if (outcomes != null) {
        outcomes.tell();
      }
    } finally {
      release();
    }
  }

  /**
   * Ends an operation that an exception cut short, and with it every connection, because nobody
   * knows which of them was being worked on.
   */
  void cutShort(Operation operation, Throwable e) {
    String why = operation.describe() + " was cut short by " + e;
    if (session != null) {
      session.fail(why);
    }
    if (connecting != null) {
      connecting.fail(why);
    }
    operation.cutShort(why);
    settle();
  }

  private void failAll() {
    for (Operation each : operations) {
      if (each.active()) {
        each.onClosed(session);
      }
    }
  }

  private void release() {
    if (session != null) {
      session.close();
    }
    if (connecting != null) {
      connecting.close();
    }
    for (Get get : gets) {
      get.release();
    }
    for (Put put : puts) {
      put.release();
    }
  }

  ClientStatistics statistics() {
    return new ClientStatistics(
        getsDone + getsNow,
        absent,
        putsDone,
        deletesDone,
        lookUps + getsNow,
        objectReads + getsNow,
        secondReads,
        invalidObjects,
        absenceRetries,
        mapRefreshes,
        leases,
        rewrites,
        resolves,
        connections);
  }

  // What operations and sessions use.

  MemoryRegion registerLocal(MemorySegment memory) {
    return device.register(memory, Backing.none(memory.byteSize()), Access.LOCAL);
  }

  Put put(int slot) {
    return puts[slot - gets.length];
  }

  long nextOrder() {
    return ++order;
  }

  /**
   * The connection to go on with, or null: one with a server, or, if that is not needed, one whose
   * regions can still be READ.
   */
  Session readSession(boolean needsServer) {
    Session current = session;
    return current != null && (current.ready() || (!needsServer && current.readable()))
        ? current
        : null;
  }

  void opened() {
    active++;
    unstamped = true;
  }

  /** A get ended in its call; its object has so many bytes. */
  void gotNow(int padded) {
    getsNow++;
    met(padded);
  }

  /** A get of an asynchronous client ended in the call that submitted it. */
  void endedAtOnce(Get get) {
    active++;
    get.error = null;
    get.step = Operation.DONE;
    outcomes.add(get);
  }

  void finished(Operation operation) {
    if (outcomes == null) {
      active--;
    } else {
      outcomes.add(operation);
    }
    if (operation instanceof Put put) {
      if (put.error == null) {
        putsDone += put.delete ? 0 : 1;
        deletesDone += put.delete ? 1 : 0;
      }
      if (active > 1 && !closed) {
        giveTurn();
      }
    } else if (operation instanceof Get get && get.error == null) {
      getsDone++;
      absent += get.length < 0 ? 1 : 0;
    }
  }

  /** The handler hears of an operation that has ended. */
  void told() {
    active--;
  }

  /** Whether a put of the same key was submitted before and is not done. */
  boolean hasEarlier(Put put) {
    if (active > 1) {
      for (Put other : puts) {
        if (other.active() && other.order < put.order && other.keyWord() == put.keyWord()) {
          return true;
        }
      }
    }
    return false;
  }

  /** Whether a put that has its place in the log before this one's could not be posted yet. */
  boolean hasUnposted(Put put) {
    if (active > 1) {
      for (Put other : puts) {
        if (put.follows(other)) {
          return true;
        }
      }
    }
    return false;
  }

  private void giveTurn() {
    for (Put put : puts) {
      if (put.step == Put.WAIT_TURN && !hasEarlier(put)) {
        put.restart();
      }
    }
  }

  void leaseArrived(Session of, int head) {
    for (Put put : puts) {
      if (put.step == Put.WAIT_LEASE && put.session == of && put.head == head) {
        put.takePlace();
      }
    }
  }

  /** The server has no room for {@code asked} bytes. Who waits for less asks again. */
  void leaseRefused(Session of, int head, int asked, int result) {
    for (Put put : puts) {
      if (put.step == Put.WAIT_LEASE && put.session == of && put.head == head) {
        if (put.padded < asked) {
          put.takePlace();
        } else {
          put.onNoRoom(result);
        }
      }
    }
  }

  /** What a result of the server's means to a caller whose request was not done. */
  ErdaException refusal(String what, int result) {
    String text = what + ": " + Result.name(result) + (reason.isEmpty() ? "" : ": " + reason);
    return switch (result) {
      case Result.LOG_FULL -> new ErdaException.Full(What.LOG, text);
      case Result.TABLE_FULL -> new ErdaException.Full(What.TABLE, text);
      case Result.DISK_FULL -> new ErdaException.Full(What.DISK, text);
      case Result.TOO_LARGE -> new ErdaException.BadSize(text);
      case Result.DAMAGED -> new ErdaException.Damaged(text);
      case Result.FAILED -> new ErdaException.OutcomeUnknown(text);
      case Result.READ_ONLY -> new ErdaException.ReadOnly(text);
      case Result.NO_SUCH_HEAD -> new ErdaException.BadArgument(text);
      default -> new ErdaException.Unavailable(text);
    };
  }

  void mapArrived(Session of) {
    for (Operation each : operations) {
      if (each.step == Operation.WAIT_MAP && each.session == of) {
        each.restart();
      }
    }
  }

  /** An object of {@code padded} bytes was read. */
  void met(int padded) {
    int excess = readBytes - padded;
    readBytes =
        excess <= 0
            ? padded
            : readBytes - (excess >> READ_BYTES_DECAY_SHIFT & -ObjectLayout.ALIGNMENT);
  }

  // What is rare.

  private int attend() {
    attention = false;
    deferred = false;
    int work = settle();
    if (connecting != null) {
      work += advanceConnecting();
    }
    for (Operation each : operations) {
      if (each.step == Operation.WAIT_SESSION) {
        work += goOn(each);
      } else if (each.step == Operation.BACKOFF) {
        work += wake(each);
      } else if (each.stalled) {
        each.resume();
        work += each.stalled ? 0 : 1;
      }
    }
    deferred |= session != null && session.retryDeferred();
    attention |= deferred;
    return work;
  }

  /**
   * Tells the operations that their connection ended, and closes it when it is good for nothing.
   */
  private int settle() {
    Session current = session;
    if (current == null || !current.takeUnsettled()) {
      return 0;
    }
    lastLoss = current.reason();
    if (current.failed()) {
      session = null;
      current.close();
    }
    tellLost(current);
    return 1;
  }

  private void tellLost(Session lost) {
    for (Operation each : operations) {
      if (each.active()) {
        each.onSessionLost(lost);
      }
    }
  }

  private int goOn(Operation each) {
    if (readSession(each.needsServer) != null) {
      each.restart();
      return 1;
    }
    attention = true;
    if (connecting == null && !(connectPaused && nanoTime.getAsLong() - connectNotBeforeNs < 0)) {
      connectPaused = false;
      connect();
      return 1;
    }
    return 0;
  }

  private int wake(Operation each) {
    if (nanoTime.getAsLong() - each.wakeNs < 0) {
      attention = true;
      return 0;
    }
    each.restart();
    return 1;
  }

  private int advanceConnecting() {
    Session next = connecting;
    int work = next.poll();
    if (next.ready()) {
      install(next);
      return work + 1;
    }
    if (next.failed()) {
      onConnectFailed(next);
      return work + 1;
    }
    deferred |= next.retryDeferred();
    attention = true;
    if (work == 0
        && nanoTime.getAsLong() - next.startedNs - options.connectTimeout().toNanos() > 0) {
      next.fail("not ready within " + options.connectTimeout().toMillis() + " ms");
    }
    return work;
  }

  private void install(Session next) {
    Session old = session;
    connecting = null;
    session = next;
    connections++;
    if (store == null) {
      store = next.welcome.store();
      heads = next.heads;
      keyHash = new KeyHash(next.welcome.hashSeed());
    }
    welcome = next.welcome;
    if (old != null) {
      old.replace();
      tellLost(old);
    }
  }

  private void onConnectFailed(Session next) {
    connecting = null;
    // A session that got ready and broke in the same poll has a reason, but nothing that kept it
    // from ever being one.
    connectFailure =
        next.failure() != null
            ? next.failure()
            : new ErdaException.Unavailable("no connection to " + address + ": " + next.reason());
    lastLoss = next.reason();
    next.close();
    connectNotBeforeNs = nanoTime.getAsLong() + RECONNECT_PAUSE_NS;
    connectPaused = true;
    boolean someWait = false;
    for (Operation each : operations) {
      if (each.step == Operation.WAIT_SESSION && readSession(each.needsServer) == null) {
        boolean patient = each.patient || each.attemptsBefore == attempts;
        if (patient && connectFailure instanceof ErdaException.Unavailable) {
          someWait = true;
        } else {
          each.fail(connectFailure);
        }
      }
    }
    // An operation that comes later tries at once.
    connectPaused = someWait;
  }

  /**
   * Ends what waits too long. The clock is read only here, when nothing else is to do. Returns how
   * many.
   */
  private int expire() {
    if (active == 0) {
      return 0;
    }
    long now = nanoTime.getAsLong();
    if (!unstamped && now - nextDeadlineNs < 0) {
      return 0;
    }
    unstamped = false;
    int ended = 0;
    long next = now + options.operationTimeout().toNanos();
    for (Operation each : operations) {
      if (each.active()) {
        if (!each.stamped) {
          each.stamped = true;
          each.deadlineNs = now + options.operationTimeout().toNanos();
        } else if (now - each.deadlineNs >= 0) {
          each.expire();
          ended++;
          continue;
        }
        next = Math.min(next - now, each.deadlineNs - now) + now;
      }
    }
    nextDeadlineNs = next;
    return ended;
  }
}
