package io.erda.simulation.system;

import io.erda.pmem.Survives;
import io.erda.protocol.Promise;
import io.erda.simulation.PersistenceDomain;

/**
 * The promise of the store for each opening, and whether the power may fail: on ordinary files only
 * while the promise is kept.
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

  /** Whether everything acknowledged must now survive a power failure. */
  boolean kept() {
    return kept;
  }

  /** The promise that the next opening asks for; null: none. */
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

  /** Notes that an opening has succeeded. */
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
