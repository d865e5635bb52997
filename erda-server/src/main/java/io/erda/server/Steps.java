package io.erda.server;

/** What drives a server: steps, and the question whether one may sleep. */
interface Steps {
  /** One step of the server. Returns 0 when there was nothing to do. */
  int doWork();

  /**
   * Prepares to sleep. Returns how long at most, nanoseconds; 0 when something may be there to be
   * done first.
   */
  long arm();

  /** Ends the steps: returns when nobody takes one any more, nor ever will. */
  void end();
}
