package io.erda.client.gets;

import io.erda.client.connections.ClientContext;
import io.erda.client.connections.Connections;
import io.erda.client.connections.RegionMap;
import io.erda.client.operations.Operation;
import io.erda.client.operations.Outcomes;
import io.erda.client.operations.Step;
import io.erda.protocol.ErdaException;
import io.erda.rdma.Status;

/**
 * An operation that READs: it handles an old map, a new incarnation of the server, and a failed
 * READ.
 */
public abstract class ReadOperation extends Operation {
  private static final int STALE_MAPS_MAX = 64;
  private static final int READ_ERRORS_MAX = 4;

  /**
   * How many flushed READs an operation accepts on a device whose READs should outlive the server.
   * The first READ may have been under way when the connection ended; another one shows that READs
   * do not go on.
   */
  private static final int LOST_READS_MAX = 1;

  /** Distinguishes the READs of this attempt from those of attempts that were given up. */
  protected long serial;

  /** The region map that the present attempt uses. */
  protected RegionMap map;

  private int staleMaps;
  private int readErrors;

  protected ReadOperation(
      ClientContext context, Connections connections, Outcomes outcomes, int slot) {
    super(context, connections, outcomes, slot);
  }

  /** Looks up anew, with the newest map of the session. */
  protected abstract void lookUp();

  /** Resets the counts of errors, when the operation begins or has made progress. */
  protected final void forgetErrors() {
    staleMaps = 0;
    readErrors = 0;
  }

  /**
   * Handles a root with a new incarnation: another server has the store, and may not accept
   * connections yet.
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
   * Handles a root that shows another epoch than the map's.
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

  /** Looks up anew once the server has sent its newest map. */
  protected final void refreshMap() {
    if (session.refreshMap()) {
      step = Step.WAIT_MAP;
    } else {
      // Only a server can send the new map, and this session's server is gone.
      needsServer = true;
      session = null;
      awaitSession();
    }
  }

  /** Tries again after a READ failed in a way that another attempt may avoid. */
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
      // The region or table was retired, so the map that names it is old. After the death of a
      // server only a starting server retires regions and tables, so the operation waits for that
      // server.
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
