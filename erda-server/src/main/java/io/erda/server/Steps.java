package io.erda.server;

import io.erda.server.engine.service.ServerCore;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The steps by which a thread drives a server, and the preparation of its sleep. In this class only
 * the server's thread takes steps; in {@link TurnSteps} other threads take some, too.
 */
class Steps {
  /** Changed only by {@link #change}. */
  protected ServerCore core;

  Steps(ServerCore core) {
    this.core = core;
  }

  /** Takes one step of the server. Returns 0 when there was no work. */
  int doWork() {
    return core.doWork();
  }

  /** Whether it is better to poll for more work after the last step than to sleep. */
  boolean mayPoll() {
    return true;
  }

  /** The figures of the server, as {@link ServerCore#figures()} gives them. */
  Map<String, Long> figures() {
    return core.figures();
  }

  /**
   * Prepares to sleep. Returns the longest time to sleep, nanoseconds; 0 when there may be work
   * already.
   */
  long arm() {
    return core.arm() && core.doWork() == 0 ? core.sleepNsMax() : 0;
  }

  /**
   * Replaces the core, perhaps by the same one. No step is taken during the call.
   *
   * @param next returns the new core
   */
  void change(Supplier<ServerCore> next) {
    core = next.get();
  }

  /**
   * Ends the steps. After the return no thread is taking a step, and none takes one later. Throws
   * the error of a step that failed, in whichever thread it failed.
   */
  void end() {
    // The calling thread is the one that takes the steps, so no step is under way.
  }
}
