package io.erda.server;

import io.erda.server.engine.ServerCore;
import java.util.Map;

/**
 * The steps of a server whose thread alone takes them.
 *
 * @param core belongs to that thread
 */
record OwnSteps(ServerCore core) implements Steps {
  @Override
  public int doWork() {
    return core.doWork();
  }

  @Override
  public Map<String, Long> figures() {
    return core.figures();
  }

  @Override
  public long arm() {
    return core.arm() && core.doWork() == 0 ? core.sleepNsMax() : 0;
  }

  @Override
  public void end() {
    // The thread that asks for the end is the one that takes the steps.
  }
}
