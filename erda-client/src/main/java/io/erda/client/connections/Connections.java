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
 * A client's current connection, and the one that is being made. A new one is made while the old
 * one may still serve READs, and takes its place when it is ready.
 */
public final class Connections {
  /** Hears, beside what happens over a connection, how connections begin and end. */
  public interface Listener extends Session.Listener {
    /** Operations over this connection can't go on with it. */
    void onLost(Session lost);

    /**
     * An attempt to connect failed. Operations that it decides end.
     *
     * @return whether some wait for another one
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
  private String lastLoss = "none was made yet";
  private long attempts;
  private boolean paused;
  private long notBeforeNs;

  /** A connection has something to post that was refused. */
  private boolean deferred;

  /** The connection that {@link #arm} armed; null when that was not worth it. */
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
   * The connection to go on with, or null: one with a server, or, if that is not needed, one whose
   * regions can still be READ. What reads the files answers what a read asks a server.
   */
  public Session readSession(boolean needsServer) {
    Session current = session;
    return current != null && (current.ready() || (!needsServer && current.readable()))
        ? current
        : null;
  }

  /** The connection with a server to go on with, or null, for what changes or asks something. */
  public Session serverSession() {
    Session current = session;
    return current != null && current.insteadOf == null && current.ready() ? current : null;
  }

  /** Why the last attempt to connect failed; null when none did since it began. */
  public ErdaException connectFailure() {
    return connectFailure;
  }

  /** How often it was begun to connect. */
  public long attempts() {
    return attempts;
  }

  /** Why the last connection ended, in words. */
  public String lastLoss() {
    return lastLoss;
  }

  /** Whether something is left to post that was refused, which no completion announces. */
  public boolean isDeferred() {
    return deferred;
  }

  /** Begins to connect, unless that is under way. */
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

  /** Begins to connect, unless that is under way or was tried a moment ago. Returns whether. */
  public boolean reconnect(Listener listener) {
    if (connecting != null || (paused && context.now() - notBeforeNs < 0)) {
      return false;
    }
    paused = false;
    connect(listener);
    return true;
  }

  /** Tells of connections that ended, and goes on with the one that is being made. */
  public int advance(Listener listener) {
    deferred = false;
    int work = settle(listener);
    return connecting == null ? work : work + advanceConnecting(listener);
  }

  /**
   * Tells the operations that their connection ended, and closes it when it is good for nothing.
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
    if (next.failed()) {
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
    // A session that got ready and broke in the same poll has a reason, but nothing that kept it
    // from ever being one.
    connectFailure =
        next.insteadOf != null
            ? next.insteadOf
            : next.failure() != null
                ? withWayToRead(next)
                : new ErdaException.Unavailable(
                    "no connection to " + context.address() + ": " + next.reason());
    lastLoss = next.reason();
    next.close();
    notBeforeNs = context.now() + RECONNECT_PAUSE_NS;
    paused = true;
    // When nobody waits, an operation that comes later tries at once.
    paused = listener.onConnectFailed(connectFailure);
  }

  /**
   * Why the first attempt failed, with what works instead: only where it was tried now, because a
   * store may be damaged, not recovered, or not this user's to read. Later attempts, which may be
   * many, cost no such look.
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
   * Whether the files can be read instead: their file system has no room for what a connection
   * needs, or failed; or the server, for which that is so, broke the connection off.
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

  /** Posts over the current connection what was refused. */
  public void retryDeferred() {
    deferred |= session != null && session.retryDeferred();
    if (deferred) {
      context.attention().ask();
    }
  }

  // Sleeping.

  /** Whether completions wake from now on; otherwise one is there. */
  public boolean arm() {
    armed = session != null && session.waitable() ? session : null;
    return (armed == null || armed.arm()) && (connecting == null || connecting.arm());
  }

  /** Sleeps until something completes. Returns false when there is nothing to sleep on. */
  public boolean await(long timeoutNs) {
    boolean usable = session != null && session.waitable();
    // What was armed may be closed by now.
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

  /** Gives every connection up; what the server has in its hands may still be answered. */
  public void leave(String why) {
    if (session != null) {
      session.leave(why);
    }
    if (connecting != null) {
      connecting.fail(why);
    }
  }

  /** Marks every connection as good for nothing. */
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
