package io.erda.client;

/** The counters of a client's own work, for {@link ClientStatistics}. */
final class Counts {
  /** Gets that ended after they had begun as operations. */
  long gets;

  /** Gets that ended in their call: each took one look-up and one READ of an object. */
  long getsNow;

  long absent;
  long puts;
  long deletes;
  long lookUps;
  long objectReads;
  long guesses;
  long rightGuesses;
  long secondReads;
  long invalidObjects;
  long absenceRetries;
  long mapRefreshes;
  long leases;
  long rewrites;
  long resolves;
  long connections;

  ClientStatistics statistics() {
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
