package io.erda.server;

import io.erda.rdma.Device;
import io.erda.server.engine.ServerCore;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Drives a {@link ServerCore} on a thread: polls while there is work and for a bounded time after it, then sleeps on the device.
 *
 * <p>While it polls it gives its processor away now and then, so that more pollers than processors slow each other down smoothly instead
 * of waiting out each other's time slices.
 */
final class ServerLoop implements Runnable {
  private static final int SPINS_BEFORE_YIELD = 64;
  private static final long SLEEP_NS_MAX = 1_000_000_000L;

  private final ServerCore core;
  private final Device device;
  private final long pollingNs;
  private final LongSupplier nanoTime;
  private final BooleanSupplier closing;

  ServerLoop(ServerCore core, Device device, long pollingNs, LongSupplier nanoTime, BooleanSupplier closing) {
    this.core = core;
    this.device = device;
    this.pollingNs = pollingNs;
    this.nanoTime = nanoTime;
    this.closing = closing;
  }

  @Override
  public void run() {
    long lastWorkNs = nanoTime.getAsLong();
    int spins = 0;
    while (!closing.getAsBoolean()) {
      if (core.doWork() > 0) {
        spins = 0;
        continue;
      }
      if (spins == 0) {
        lastWorkNs = nanoTime.getAsLong();
      }
      spins++;
      if (nanoTime.getAsLong() - lastWorkNs < pollingNs) {
        if (spins % SPINS_BEFORE_YIELD == 0) {
          Thread.yield();
        } else {
          Thread.onSpinWait();
        }
      } else if (core.arm() && core.doWork() == 0) {
        device.await(SLEEP_NS_MAX);
      }
    }
  }
}
