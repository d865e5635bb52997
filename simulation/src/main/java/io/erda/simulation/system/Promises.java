package io.erda.simulation.system;

import io.erda.pmem.Survives;
import io.erda.protocol.Promise;
import io.erda.simulation.PersistenceDomain;

/**
 * What the store promises, opening by opening, and whether the power may fail: where files are
 * ordinary ones, it may only while the promise is kept.
 */
final class Promises {
  private static final int ODDS = 5;

  private final World world;
  private final boolean ordinary;
  private boolean kept;
  private boolean first = true;

  Promises(World world) {
    this.world = world;
    PersistenceDomain domain = world.configuration.domain();
    ordinary =
        world.mayHappen(Fault.PROMISE_RAISED)
            && domain == PersistenceDomain.MEMORY_CONTROLLER
            && world.doors.nextBoolean();
    if (ordinary) {
      world.disk.ordinaryFiles();
    }
    kept =
        !ordinary
            && !world.configuration.announces()
            && domain.survives() == Survives.POWER_FAILURE;
  }

  /** Whether everything that was acknowledged has to survive a power failure now. */
  boolean kept() {
    return kept;
  }

  /** What the next opening asks for; null: nothing. */
  Promise next() {
    if (!ordinary) {
      return null;
    }
    int draw = world.doors.nextInt(ODDS);
    if (draw == 0 || (first && draw == 1)) {
      return Promise.POWER;
    }
    if (draw == 2 && kept && world.mayHappen(Fault.PROMISE_GIVEN_UP)) {
      world.happened(Fault.PROMISE_GIVEN_UP);
      kept = false;
      return Promise.PROCESS;
    }
    return null;
  }

  /** An opening has succeeded. */
  void opened(Promise promise) {
    first = false;
    if (!ordinary) {
      return;
    }
    boolean now = promise == Promise.POWER;
    if (kept && !now) {
      world.fail("the store has forgotten what it promised");
    } else if (now && !kept) {
      world.happened(Fault.PROMISE_RAISED);
    }
    kept = now;
  }
}
