package io.erda.server.engine.service;

import io.erda.cleaner.Cleaner;
import io.erda.protocol.Message;
import io.erda.protocol.PutMode;
import io.erda.protocol.Result;
import io.erda.server.engine.store.StoreFailures;
import java.lang.foreign.MemorySegment;

/**
 * Passes each request of a client to the class that answers it. One thread.
 *
 * <p>{@link Publishing} collects the PUBLISH requests of one step, to publish them as one batch.
 * Before this class passes on a request of any other type, it makes {@link Publishing} publish the
 * requests that were collected so far, unless a batch waits for a device ({@link
 * Publishing#publish}). Before an ERASE it waits until all earlier requests of that client are
 * published.
 */
final class RequestDispatch {
  /** For how many nanoseconds after a request further requests are expected. */
  private static final long BUSY_NS = 100_000;

  private final PutMode mode;
  private final int heads;
  private final boolean cleans;
  private final StoreFailures failures;
  private final SpaceRefusals refusals;
  private final Publishing publishing;
  private final Announcing announcing;
  private final LeaseGrants leases;
  private final KeyRequests keys;
  private final MapRequests maps;
  private final Cleaner cleaner;
  private final Departures departures;
  private final NamedFigures figures;

  private long count;

  /** When the current step began. */
  private long stepNs;

  private long lastNs = Long.MIN_VALUE / 2;

  /** Whether a client's thread has published since the last step. */
  private boolean publishedNow;

  /**
   * @param mode the put mode of the store
   * @param heads number of heads of the store
   * @param cleans whether the log is cleaned
   */
  RequestDispatch(
      PutMode mode,
      int heads,
      boolean cleans,
      StoreFailures failures,
      SpaceRefusals refusals,
      Publishing publishing,
      Announcing announcing,
      LeaseGrants leases,
      KeyRequests keys,
      MapRequests maps,
      Cleaner cleaner,
      Departures departures,
      NamedFigures figures) {
    this.mode = mode;
    this.heads = heads;
    this.cleans = cleans;
    this.failures = failures;
    this.refusals = refusals;
    this.publishing = publishing;
    this.announcing = announcing;
    this.leases = leases;
    this.keys = keys;
    this.maps = maps;
    this.cleaner = cleaner;
    this.departures = departures;
    this.figures = figures;
  }

  /** Number of requests that came so far. */
  long count() {
    return count;
  }

  /** Notes that a step begins, in which requests may come. */
  void step(long nowNs) {
    stepNs = nowNs;
    if (publishedNow) {
      publishedNow = false;
      lastNs = nowNs;
    }
  }

  /** Notes that a client of this process has published in its own thread, without messages. */
  void publishedNow(long puts) {
    count += puts;
    publishedNow = true;
  }

  /** Whether a request has just come, so that more are expected. */
  boolean areExpected() {
    return stepNs - lastNs < BUSY_NS;
  }

  /**
   * Handles a message, which lies in a slot of a connection. Its bytes are not trusted.
   *
   * @param received its length
   */
  void onMessage(Connection connection, int slot, int received) {
    count++;
    lastNs = stepNs;
    MemorySegment in = connection.buffers();
    long at = Connection.requestAt(slot);
    if (!Message.wellFormed(in, at, received)
        || Message.clientId(in, at) != connection.clientId
        || Message.connectionEpoch(in, at) != connection.connectionEpoch) {
      connection.giveUpBecauseOfGarbage();
      return;
    }
    int type = Message.type(in, at);
    connection.begun(slot, type);
    String tooMany = connection.overLimit(type);
    if (tooMany != null) {
      refusals.addOverQuota(connection, slot, type, -1, 0, tooMany);
      return;
    }
    if (type == Message.ERASE) {
      publishing.finish(connection);
    } else if (type != Message.PUBLISH) {
      publishing.publish();
    }
    if (!belongsTo(type, mode)) {
      connection.respond(slot, type, Result.BAD_REQUEST, Message.HEADER_BYTES);
      return;
    }
    switch (type) {
      case Message.ANNOUNCE -> announcing.onAnnounce(connection, slot, in, at, received, lastNs);
      case Message.REPORT -> announcing.onReport(connection, slot, in, at, received);
      case Message.PUBLISH -> publishing.onPublish(connection, slot, in, at, received, lastNs);
      case Message.LEASE -> leases.onLease(connection, slot, in, at, received);
      case Message.END -> leases.onEnd(connection, slot, in, at, received);
      case Message.MAP -> maps.onMap(connection, slot, in, at, received);
      case Message.RESOLVE -> keys.onResolve(connection, slot, in, at, received);
      case Message.ERASE -> keys.onErase(connection, slot, in, at, received);
      case Message.CLEAN -> onClean(connection, slot, in, at, received);
      case Message.LEFT -> onLeft(connection, slot, in, at, received);
      case Message.STATS -> figures.onStats(connection, slot, in, at, received);
      default -> connection.respond(slot, type, Result.BAD_REQUEST, Message.HEADER_BYTES);
    }
  }

  /** Whether a store of this put mode takes requests of the type. */
  private static boolean belongsTo(int type, PutMode mode) {
    return switch (type) {
      case Message.PUBLISH -> mode == PutMode.PUBLISH;
      case Message.ANNOUNCE, Message.REPORT -> mode == PutMode.ANNOUNCE;
      default -> true;
    };
  }

  private void onClean(Connection connection, int slot, MemorySegment in, long at, int received) {
    if (received != Message.CLEAN_REQUEST_BYTES) {
      connection.respond(slot, Message.CLEAN, Result.BAD_REQUEST, Message.HEADER_BYTES);
      return;
    }
    int head = Message.getInt(in, at + Message.CLEAN_HEAD);
    if (head < -1 || head >= heads) {
      connection.refuse(
          slot,
          Message.CLEAN,
          Result.NO_SUCH_HEAD,
          "%d, the store has heads 0 to %d".formatted(head, heads - 1));
    } else if (failures.any()) {
      connection.refuse(slot, Message.CLEAN, failures.refusal(), failures.reason());
    } else if (!cleans) {
      connection.respond(slot, Message.CLEAN, Result.NO_CLEANING, Message.HEADER_BYTES);
    } else {
      cleaner.ask(head);
      connection.respond(slot, Message.CLEAN, Result.OK, Message.CLEAN_RESPONSE_BYTES);
    }
  }

  private void onLeft(Connection connection, int slot, MemorySegment in, long at, int received) {
    if (received != Message.LEFT_REQUEST_BYTES) {
      connection.respond(slot, Message.LEFT, Result.BAD_REQUEST, Message.HEADER_BYTES);
      return;
    }
    departures.left(connection.clientId, Message.getLong(in, at + Message.LEFT_EPOCH));
    connection.respond(slot, Message.LEFT, Result.OK, Message.LEFT_RESPONSE_BYTES);
  }
}
