package io.erda.server;

import io.erda.rdma.Device;
import io.erda.rdma.Poller;
import io.erda.server.engine.ServerCore;
import java.util.function.BooleanSupplier;

/** Drives a {@link ServerCore} on a thread: polls as long as the poller allows, then sleeps on the device. */
final class ServerLoop implements Runnable {
  /** The server looks after idle reservations at least this often. */
  private static final long SLEEP_NS_MAX = 1_000_000_000L;

  private final ServerCore core;
  private final Device device;
  private final Poller poller;
  private final BooleanSupplier closing;

  ServerLoop(ServerCore core, Device device, Poller poller, BooleanSupplier closing) {
    this.core = core;
    this.device = device;
    this.poller = poller;
    this.closing = closing;
  }

  @Override
  public void run() {
    while (!closing.getAsBoolean()) {
      if (poller.mayPoll(core.doWork())) {
        continue;
      }
      if (core.arm() && core.doWork() == 0 && !closing.getAsBoolean()) {
        device.await(SLEEP_NS_MAX);
      }
      poller.reset();
    }
  }
}
