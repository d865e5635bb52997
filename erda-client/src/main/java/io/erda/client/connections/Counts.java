package io.erda.client.connections;

import io.erda.client.ClientStatistics;

/** The counters of a client's own work, for {@link ClientStatistics}. */
public final class Counts {
  /** Gets that ended after they had begun as operations. */
  public long gets;

  /** Gets that ended within their call: each took one look-up and one READ of an object. */
  public long getsNow;

  public long absent;
  public long puts;
  public long deletes;
  public long lookUps;
  public long objectReads;
  public long guesses;
  public long rightGuesses;
  public long secondReads;
  public long invalidObjects;
  public long absenceRetries;
  long mapRefreshes;
  long leases;
  public long rewrites;
  public long resolves;
  long connections;

  public ClientStatistics statistics() {
    return new ClientStatistics(
        gets + getsNow,
        absent,
        puts,
        deletes,
        lookUps + getsNow,
        objectReads + getsNow,
        guesses,
        rightGuesses,
        secondReads,
        invalidObjects,
        absenceRetries,
        mapRefreshes,
        leases,
        rewrites,
        resolves,
        connections);
  }
}
