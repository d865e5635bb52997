package io.erda.server;

import io.erda.server.engine.service.ServerCore;
import java.util.Map;
import java.util.function.Supplier;

/** The steps by which a thread drives a server, and the preparation of its sleep. */
interface Steps {
  /** Takes one step of the server. Returns 0 when there was no work. */
  int doWork();

  /**
   * The figures of the server, as {@link io.erda.server.engine.service.ServerCore#figures()} gives
   * them. For the server's thread.
   */
  Map<String, Long> figures();

  /**
   * Prepares to sleep. Returns the longest time to sleep, nanoseconds; 0 when there may be work
   * already.
   */
  long arm();

  /**
   * Replaces the core, perhaps by the same one. No step is taken during the call. For the server's
   * thread.
   *
   * @param next returns the new core
   */
  void change(Supplier<ServerCore> next);

  /**
   * Ends the steps. After the return no thread is taking a step, and none takes one later. Throws
   * the error of a step that failed, in whichever thread it failed.
   */
  void end();
}
