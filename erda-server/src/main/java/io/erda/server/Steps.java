package io.erda.server;

import java.util.Map;

/** What drives a server: steps, and the question whether one may sleep. */
interface Steps {
  /** One step of the server. Returns 0 when there was nothing to do. */
  int doWork();

  /**
   * The figures of the server, as {@link io.erda.server.engine.ServerCore#figures()} gives them.
   * For the server's thread.
   */
  Map<String, Long> figures();

  /**
   * Prepares to sleep. Returns how long at most, nanoseconds; 0 when something may be there to be
   * done first.
   */
  long arm();

  /**
   * Ends the steps: returns when nobody takes one any more, nor ever will. Throws what a step
   * failed with, in whichever thread that was.
   */
  void end();
}
