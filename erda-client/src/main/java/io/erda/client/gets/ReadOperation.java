package io.erda.client.gets;

import io.erda.client.connections.ClientContext;
import io.erda.client.connections.Connections;
import io.erda.client.connections.RegionMap;
import io.erda.client.operations.Operation;
import io.erda.client.operations.Step;
import io.erda.protocol.ErdaException;
import io.erda.rdma.Status;

/**
 * An operation that READs: what it does when the map that it reads with is old, when another server
 * has the store, and when a READ fails.
 */
public abstract class ReadOperation extends Operation {
  private static final int STALE_MAPS_MAX = 64;
  private static final int READ_ERRORS_MAX = 4;

  /**
   * READs of one operation that may be flushed while READs are thought to outlive the server: the
   * first may have been under way when the connection ended, another one says that they don't.
   */
  private static final int LOST_READS_MAX = 1;

  /** Tells the READs of one attempt from those of attempts that were given up. */
  protected long serial;

  /** The map of the store by which the present attempt reads. */
  protected RegionMap map;

  private int staleMaps;
  private int readErrors;

  protected ReadOperation(
      ClientContext context, Connections connections, Listener listener, int slot) {
    super(context, connections, listener, slot);
  }

  /** Looks up anew, with the newest map of the session. */
  protected abstract void lookUp();

  /** It begins, or has got on: errors count from here. */
  protected final void forgetErrors() {
    staleMaps = 0;
    readErrors = 0;
  }

  /**
   * Another server has this store: it may not have got as far as to accept connections.
   *
   * @param now the incarnation that the root shows
   */
  protected final void onOtherIncarnation(long now) {
    patient = true;
    session.fail(
        "the server was started anew (incarnation "
            + Long.toHexString(now)
            + ", was "
            + Long.toHexString(map.incarnation)
            + ")");
  }

  /**
   * The root shows another epoch than the map's.
   *
   * @param now the epoch that the root shows
   */
  protected final void onStaleMap(long now) {
    if (++staleMaps > STALE_MAPS_MAX) {
      fail(
          new ErdaException.Unavailable(
              describe()
                  + ": the region map was stale "
                  + staleMaps
                  + " times; root says epoch "
                  + now
                  + ", map says "
                  + map.epoch));
    } else if (session.map != map) {
      lookUp();
    } else {
      refreshMap();
    }
  }

  /** Looks up anew when the server has told its newest map. */
  protected final void refreshMap() {
    if (session.refreshMap()) {
      step = Step.WAIT_MAP;
    } else {
      // Only a server can tell the new map, and this one is gone.
      needsServer = true;
      session = null;
      awaitSession();
    }
  }

  /** A READ failed that another attempt may do better. */
  protected final void retryAfter(int status) {
    boolean stale = status == Status.REMOTE_ACCESS;
    readErrors += stale ? 0 : 1;
    staleMaps += stale ? 1 : 0;
    if (readErrors > READ_ERRORS_MAX || staleMaps > STALE_MAPS_MAX) {
      fail(
          new ErdaException.Unavailable(
              describe()
                  + ": READs failed "
                  + (readErrors + staleMaps)
                  + " times, the last one: "
                  + GetErrors.status(session.queuePair, status)));
    } else if (stale) {
      // What was named was retired meanwhile: the map that named it is old. Nobody but another
      // server that starts retires what a server left.
      patient |= !session.ready();
      refreshMap();
    } else if (session.ready()
        || status != Status.FLUSHED
        || !session.readsOutlive
        || readErrors > LOST_READS_MAX) {
      session.fail("a READ ended with: " + Status.name(status));
    } else {
      session = null;
      awaitSession();
    }
  }
}
