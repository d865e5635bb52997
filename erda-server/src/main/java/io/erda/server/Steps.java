package io.erda.server;

import io.erda.server.engine.service.ServerCore;
import java.util.Map;
import java.util.function.Supplier;

/** The steps by which a thread drives a server, and the question whether it may sleep. */
interface Steps {
  /** One step of the server. Returns 0 when there was nothing to do. */
  int doWork();

  /**
   * The figures of the server, as {@link io.erda.server.engine.service.ServerCore#figures()} gives
   * them. For the server's thread.
   */
  Map<String, Long> figures();

  /**
   * Prepares to sleep. Returns how long at most, nanoseconds; 0 when something may be there to be
   * done first.
   */
  long arm();

  /**
   * Another core may take the place of the one whose steps these are: no step is taken while it is
   * asked which. For the server's thread.
   *
   * @param next says the core to go on with, which may be the same
   */
  void change(Supplier<ServerCore> next);

  /**
   * Ends the steps: returns when nobody takes one any more, nor ever will. Throws what a step
   * failed with, in whichever thread that was.
   */
  void end();
}
