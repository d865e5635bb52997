package io.erda.client;

import io.erda.protocol.ErdaException;
import java.lang.foreign.MemorySegment;
import java.util.Map;

/** Turns operations into calls: drive the core, poll for a bounded time, then sleep until something completes. */
final class BlockingCalls {
  private static final int SPINS_PER_CLOCK = 16;

  private final ClientCore core;
  private final long awaitNs;

  BlockingCalls(ClientCore core, long awaitNs) {
    this.core = core;
    this.awaitNs = awaitNs;
  }

  /** Returns when the first connection is made. @throws ErdaException when it is not */
  void connect() {
    core.connect();
    while (!core.connected()) {
      if (core.connectFailure() != null) {
        throw core.connectFailure();
      }
      if (core.doWork() == 0) {
        core.await(awaitNs);
      }
    }
  }

  /** Runs a get whose key is set. The caller frees it; when this throws it is free. */
  void run(Get get) {
    get.begin();
    if (get.step != Operation.DONE) {
      drive(get);
    }
    if (get.error != null) {
      throw free(get);
    }
  }

  /** A put, or a delete when {@code value} is null. Returns what a delete says. */
  boolean put(MemorySegment key, MemorySegment value) {
    // Hear of a server that went away before anything is sent to it: that is the difference between "unavailable" and "unknown".
    core.doWork();
    Put put = core.freePut();
    put.build(key, value);
    put.begin();
    drive(put);
    if (put.error != null) {
      throw free(put);
    }
    put.step = Operation.IDLE;
    return put.existed;
  }

  Map<String, Long> stats() {
    core.doWork();
    StatsQuery query = core.query;
    query.begin();
    drive(query);
    if (query.error != null) {
      throw free(query);
    }
    query.step = Operation.IDLE;
    return query.figures;
  }

  private static ErdaException free(Operation operation) {
    operation.step = Operation.IDLE;
    return operation.error;
  }

  private void drive(Operation operation) {
    int idle = 0;
    long sleepAtNs = 0;
    while (operation.step != Operation.DONE) {
      if (core.doWork() > 0) {
        idle = 0;
        continue;
      }
      Thread.onSpinWait();
      idle++;
      if (idle % SPINS_PER_CLOCK == 0) {
        long now = core.nanoTime.getAsLong();
        if (idle == SPINS_PER_CLOCK) {
          sleepAtNs = now + pollingNs();
        }
        if (now - sleepAtNs >= 0) {
          core.await(awaitNs);
        }
      }
    }
  }

  private long pollingNs() {
    long asked = core.options.pollingNs();
    return asked == ClientOptions.SERVER_HINT ? Math.max(0, core.welcome().pollingNs()) : asked;
  }
}
