package io.erda.client.connections;

import io.erda.pmem.MemoryFault;
import io.erda.protocol.ErdaException;
import io.erda.rdma.QueuePair;

/**
 * The phase of a connection, and the reason of its end. All code that uses the connection reports
 * errors to this object.
 *
 * <p>This only marks the connection. {@code ClientCore} ends it after the poll, so never from
 * within a completion.
 */
final class SessionState {
  private static final int CONNECTING = 0;

  /** Connected; the first region map is being fetched. */
  private static final int MAPPING = 1;

  private static final int READY = 2;

  /** The server is gone; READs may go on if the device allows it. */
  private static final int LOST = 3;

  /**
   * The client has given up the connection; it still accepts answers to requests that the server
   * has taken.
   */
  private static final int LEAVING = 4;

  /** The connection is unusable. */
  private static final int FAILED = 5;

  private static final int CLOSED = 6;

  private final ClientContext context;
  private final QueuePair queuePair;
  private final boolean readsOutlive;

  private int phase = CONNECTING;
  private ErdaException failure;
  private boolean leftByServer;
  private String reason = "";
  private boolean unsettled;

  /** Whether the device reported the end of the connection; then no message will come. */
  private boolean disconnected;

  /** Which requests may still take effect when the connection has ended. */
  private final Withdrawal withdrawal;

  /**
   * @param readsOutlive whether READs go on when the server is gone
   */
  SessionState(ClientContext context, QueuePair queuePair, boolean readsOutlive) {
    this.context = context;
    this.queuePair = queuePair;
    this.readsOutlive = readsOutlive;
    this.withdrawal = new Withdrawal(queuePair.claims(), context.nanoTime());
  }

  boolean isConnecting() {
    return phase == CONNECTING;
  }

  boolean isReady() {
    return phase == READY;
  }

  /** Whether requests may be sent: a server is there, and it welcomed this client. */
  boolean hasServer() {
    return phase == READY || phase == MAPPING;
  }

  boolean isLost() {
    return phase == LOST;
  }

  boolean isLostAndReadable() {
    return isLost() && readsOutlive;
  }

  boolean isLeaving() {
    return phase == LEAVING;
  }

  /** Whether the connection can't be used for new requests. */
  boolean isOver() {
    return phase >= LEAVING;
  }

  /** Whether completions other than those of READs are ignored. */
  boolean isFailed() {
    return phase >= FAILED;
  }

  /** Whether waiting for a completion is useful. */
  boolean isWaitable() {
    return phase <= READY || phase == LEAVING;
  }

  /** Why the connection ended, in words. */
  String reason() {
    return reason;
  }

  /** Returns the reason why the connection was never made; null for a connection that was made. */
  ErdaException failure() {
    return failure;
  }

  /** Notes that the server's welcome is sound. */
  void welcomed() {
    phase = MAPPING;
  }

  /** Notes that the first region map is complete. */
  void mapped() {
    if (phase == MAPPING) {
      phase = READY;
      context.attention().ask();
    }
  }

  /** Marks the connection as unusable. */
  void fail(String why) {
    failWith(
        phase < READY
            ? new ErdaException.Unavailable("no connection to " + context.address() + ": " + why)
            : null,
        why);
  }

  /**
   * @param whyNever the reason why the connection was never made; null when it was made
   */
  void failWith(ErdaException whyNever, String why) {
    if (phase < FAILED) {
      if (phase >= READY) {
        withdrawal.begin();
      }
      phase = FAILED;
      failure = whyNever;
      reason = why;
      toSettle();
    }
  }

  /**
   * Ends the connection after a fault: the file that both ends map was shortened, or its file
   * system is full or failed. It is unknown which work was done. READs go on if they outlive the
   * server.
   */
  void failAfter(MemoryFault fault) {
    if (queuePair.isMemoryLost()) {
      lose(
          "the file of the connection, below "
              + context.address()
              + ", was shortened, or its file system is full or failed");
    } else {
      // All pages of the file can be accessed now; the page that was missing may be there again.
      fail("its work was cut short by " + fault.getMessage());
    }
  }

  /** Whether the server left, after it had accepted the connection. */
  boolean isLeftByServer() {
    return leftByServer;
  }

  /** Notes that the server left. */
  void lose(String why) {
    if (phase == LEAVING) {
      return;
    }
    leftByServer |= phase >= MAPPING && phase < FAILED;
    if (phase == READY && readsOutlive) {
      phase = LOST;
      reason = why;
      toSettle();
    } else if (phase != LOST) {
      fail(why);
    }
  }

  /** Notes that the server left, and that no message will come. */
  void disconnect(String why) {
    lose(why);
    disconnected = true;
  }

  /** Gives the connection up, and takes back the requests that the server has not taken. */
  void leave(String why) {
    if (phase == READY || phase == LOST) {
      phase = LEAVING;
      reason = why;
      toSettle();
      withdrawal.begin();
    } else if (phase < READY) {
      fail(why);
    }
  }

  /** Notes that the queue pair is being closed. Idempotent. */
  void close() {
    if (phase == CLOSED) {
      return;
    }
    if (reason.isEmpty()) {
      reason = "it was closed";
    }
    if (phase >= READY) {
      withdrawal.begin();
    }
    phase = CLOSED;
  }

  private void toSettle() {
    unsettled = true;
    context.attention().ask();
  }

  /** Whether the connection ended and its operations were not yet told of the end. */
  boolean unsettled() {
    return unsettled;
  }

  /** Notes that the operations have been told of the end. */
  void settle() {
    unsettled = false;
  }

  /** Whether answers can still come and would be used. */
  boolean isListening() {
    return phase < FAILED && !disconnected;
  }

  /**
   * Returns the withdrawal of the requests of a connection that ended. Begins it when an error kept
   * the end of the connection from doing so. REQUIRES: the connection ended.
   */
  Withdrawal withdrawal() {
    withdrawal.begin();
    return withdrawal;
  }
}
