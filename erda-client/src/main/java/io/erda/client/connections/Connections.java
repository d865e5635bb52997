package io.erda.client.connections;

import io.erda.client.ErdaUri;
import io.erda.client.files.ReadOnlyDevice;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Handshake;
import io.erda.protocol.Handshake.Hello;
import io.erda.protocol.Protocol;
import io.erda.rdma.QueuePair;
import java.lang.foreign.MemorySegment;

/**
 * A client's current connection, and a second connection while it is being made. A new connection
 * is made while the old one may still serve READs, and replaces it when it is ready.
 */
public final class Connections {
  /** Receives the events of a connection, and of its beginning and end. */
  public interface Listener extends Session.Listener {
    /** A connection was lost. Its operations need another one. */
    void onLost(Session lost);

    /**
     * An attempt to connect failed. Operations that depend on it end.
     *
     * @return whether some wait for another attempt
     */
    boolean onConnectFailed(ErdaException why);
  }

  private static final long RECONNECT_PAUSE_NS = 10_000_000;

  private final ClientContext context;
  private final int operations;

  /** The current connection; null before the first and between two. */
  private Session session;

  /** The connection that is being made; null when none is. */
  private Session connecting;

  private ErdaException connectFailure;

  /** See {@link #isEndedAtOnce}. */
  private boolean endedAtOnce;

  /** Whether the last attempt failed because the two ends did not agree on encryption. */
  private boolean disagreed;

  private String lastLoss = "none was made yet";
  private long attempts;
  private boolean paused;
  private long notBeforeNs;

  /** Whether a connection still has to post work that was refused. */
  private boolean deferred;

  /** The connection that {@link #arm} armed; null when none was armed. */
  private Session armed;

  /**
   * @param operations how many slots the operations of the client have
   */
  public Connections(ClientContext context, int operations) {
    this.context = context;
    this.operations = operations;
  }

  /** The current connection; null before the first and between two. */
  public Session current() {
    return session;
  }

  public boolean isConnecting() {
    return connecting != null;
  }

  /**
   * Returns the connection for reading, or null. This is a connection with a server, or, if no
   * server is needed, a connection whose regions can still be READ. A device that reads the files
   * also answers the requests that a read may send to a server.
   */
  public Session readSession(boolean needsServer) {
    Session current = session;
    return current != null && (current.ready() || (!needsServer && current.readable()))
        ? current
        : null;
  }

  /**
   * Returns the connection with a server, or null. Operations that change the store or send a
   * request need it.
   */
  public Session serverSession() {
    Session current = session;
    return current != null && current.insteadOf == null && current.ready() ? current : null;
  }

  /** Why the last attempt to connect failed; null when no attempt failed since it began. */
  public ErdaException connectFailure() {
    return connectFailure;
  }

  /**
   * Whether the last attempt failed in a way that another one may not: the server ended a
   * connection that it had just accepted, as it does when it opens its store again; or the two ends
   * did not agree on encryption for the first time.
   */
  public boolean isEndedAtOnce() {
    return endedAtOnce;
  }

  /** How many attempts to connect were begun. */
  public long attempts() {
    return attempts;
  }

  /** Why the last connection ended, in words. */
  public String lastLoss() {
    return lastLoss;
  }

  /** Whether work that was refused is still to be posted, which no completion announces. */
  public boolean isDeferred() {
    return deferred;
  }

  /** Begins to connect, unless an attempt is under way. */
  public void connect(Listener listener) {
    if (connecting == null) {
      connectFailure = null;
      attempts++;
      Hello hello =
          new Hello(
              Protocol.VERSION,
              Protocol.LAYOUT_VERSION,
              context.options().required(),
              context.processId(),
              context.store().id());
      QueuePair queuePair =
          context
              .device()
              .connect(
                  context.address(), Handshake.encode(hello), context.options().connectTimeout());
      connecting = new Session(context, queuePair, operations, listener, null);
      context.attention().ask();
    }
  }

  /**
   * Begins to connect, unless an attempt is under way or was made a moment ago. Returns whether it
   * did.
   */
  public boolean reconnect(Listener listener) {
    if (connecting != null || (paused && context.now() - notBeforeNs < 0)) {
      return false;
    }
    paused = false;
    connect(listener);
    return true;
  }

  /** Reports connections that ended to the listener, and advances the attempt to connect. */
  public int advance(Listener listener) {
    deferred = false;
    int work = settle(listener);
    return connecting == null ? work : work + advanceConnecting(listener);
  }

  /**
   * Reports to the operations that their connection ended, and closes it when it can't be used any
   * more.
   */
  public int settle(Listener listener) {
    Session current = session;
    if (current == null || !current.takeUnsettled()) {
      return 0;
    }
    lastLoss = current.reason();
    if (current.failed()) {
      session = null;
      current.close();
    }
    listener.onLost(current);
    return 1;
  }

  private int advanceConnecting(Listener listener) {
    Session next = connecting;
    int work = next.poll();
    if (next.ready()) {
      install(next, listener);
      return work + 1;
    }
    if (next.failed() || next.isLost()) {
      onConnectFailed(next, listener);
      return work + 1;
    }
    deferred |= next.retryDeferred();
    context.attention().ask();
    if (work == 0
        && context.now() - next.startedNs - context.options().connectTimeout().toNanos() > 0) {
      next.fail("not ready within " + context.options().connectTimeout().toMillis() + " ms");
    }
    return work;
  }

  private void install(Session next, Listener listener) {
    Session old = session;
    connecting = null;
    session = next;
    disagreed = false;
    context.counts().connections++;
    context.store().learn(next.welcome);
    if (old != null) {
      old.replace();
      listener.onLost(old);
    }
  }

  private void onConnectFailed(Session next, Listener listener) {
    connecting = null;
    if (mayRead(next)) {
      lastLoss = next.reason();
      next.close();
      connecting = reader(next.failure(), listener);
      return;
    }
    // Bytes that were changed on their way can look like a disagreement, so the first one is not
    // final.
    boolean firstDisagreement = next.isDisagreement() && !disagreed;
    disagreed = next.isDisagreement();
    endedAtOnce = next.isLeftByServer() || firstDisagreement;
    connectFailure =
        firstDisagreement
            ? new ErdaException.Unavailable(next.failure().getMessage())
            : failure(next);
    lastLoss = next.reason();
    next.close();
    notBeforeNs = context.now() + RECONNECT_PAUSE_NS;
    paused = true;
    // When no operation waits, the next operation tries to connect at once.
    paused = listener.onConnectFailed(connectFailure);
  }

  private ErdaException failure(Session failed) {
    if (failed.insteadOf != null) {
      return failed.insteadOf;
    }
    // A session that became ready and broke, or was lost, in the same poll has a reason(), but no
    // failure().
    return failed.failure() != null
        ? withWayToRead(failed)
        : new ErdaException.Unavailable(
            "no connection to " + context.address() + ": " + failed.reason());
  }

  /**
   * Returns why the first attempt failed, and adds the URI that works instead if the files can be
   * read. Only tried for a first attempt: a store may be damaged, not recovered, or not readable by
   * this user. Later attempts, which may be many, skip it.
   */
  private ErdaException withWayToRead(Session failed) {
    ErdaException why = failed.failure();
    if (attempts > 1 || context.reading() == null || !failed.mayReadInstead()) {
      return why;
    }
    try (ReadOnlyDevice files = context.reading().open()) {
      if (!files.isReadable()) {
        return why;
      }
    }
    String text =
        why.getMessage()
            + "; the files of the store can be read, with "
            + ErdaUri.READ_ONLY
            + " behind the URI";
    return why instanceof ErdaException.Refused
        ? new ErdaException.Refused(text)
        : new ErdaException.Unavailable(text);
  }

  /**
   * Whether the client may be able to read the store's files without a server: their file system
   * has no room for a connection's files, or failed; or the server ended the connection for such a
   * reason.
   */
  private boolean mayRead(Session failed) {
    boolean wanting =
        failed.failure() instanceof ErdaException.Full full
                && full.what() == ErdaException.Full.What.DISK
            || failed.failure() instanceof ErdaException.ReadOnly
            || failed.failure() instanceof ErdaException.Unavailable && failed.welcome != null;
    boolean reads = session != null && session.insteadOf != null && session.ready();
    return context.reading() != null && failed.insteadOf == null && wanting && !reads;
  }

  private Session reader(ErdaException insteadOf, Listener listener) {
    QueuePair queuePair =
        context
            .reading()
            .kept()
            .connect(context.address(), MemorySegment.NULL, context.options().connectTimeout());
    context.attention().ask();
    return new Session(context, queuePair, operations, listener, insteadOf);
  }

  /** Posts over the current connection the work that was refused. */
  public void retryDeferred() {
    deferred |= session != null && session.retryDeferred();
    if (deferred) {
      context.attention().ask();
    }
  }

  // Sleeping.

  /**
   * Makes completions wake the sleeping thread. Returns false when a completion is already there.
   */
  public boolean arm() {
    armed = session != null && session.waitable() ? session : null;
    return (armed == null || armed.arm()) && (connecting == null || connecting.arm());
  }

  /**
   * Sleeps until a work request completes. Returns false when there is no connection on which to
   * sleep.
   */
  public boolean await(long timeoutNs) {
    boolean usable = session != null && session.waitable();
    // The armed connection may be closed by now.
    if (usable && session == armed && connecting == null) {
      session.queuePair.await(timeoutNs);
      return true;
    }
    if (connecting != null && !usable) {
      connecting.queuePair.await(timeoutNs);
      return true;
    }
    return false;
  }

  // The end.

  /** Gives up every connection. The server may still answer requests that it has taken. */
  public void leave(String why) {
    if (session != null) {
      session.leave(why);
    }
    if (connecting != null) {
      connecting.fail(why);
    }
  }

  /** Marks every connection as unusable. */
  public void fail(String why) {
    if (session != null) {
      session.fail(why);
    }
    if (connecting != null) {
      connecting.fail(why);
    }
  }

  public void close() {
    if (session != null) {
      session.close();
    }
    if (connecting != null) {
      connecting.close();
    }
    if (context.reading() != null) {
      context.reading().close();
    }
  }
}
