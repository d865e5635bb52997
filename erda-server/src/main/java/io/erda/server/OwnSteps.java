package io.erda.server;

import io.erda.server.engine.service.ServerCore;
import java.util.Map;
import java.util.function.Supplier;

/** The steps of a server that only the server's thread takes. The core belongs to that thread. */
final class OwnSteps implements Steps {
  private ServerCore core;

  OwnSteps(ServerCore core) {
    this.core = core;
  }

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
  public void change(Supplier<ServerCore> next) {
    core = next.get();
  }

  @Override
  public void end() {
    // Only the calling thread takes steps, so no step is under way.
  }
}
