package io.erda.simulation.system;

import java.util.SplittableRandom;

/** The behaviour of a client's handler when it receives the end of an operation. */
final class Handler {
  private static final int ODDS = 4;

  /** The exception that a handler throws. */
  static final class Failure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Failure() {
      super("a handler fails", null, false, false);
    }
  }

  private final World world;
  private final SplittableRandom random;
  private final int submitsOdds;
  private final int throwsOdds;

  /** Makes a handler; for half of the clients it does nothing special. */
  Handler(World world) {
    this.world = world;
    random = world.doors.split();
    submitsOdds =
        world.mayHappen(Fault.HANDLER_SUBMITS) && random.nextInt(ODDS) == 0
            ? random.nextInt(1, 2 * ODDS)
            : 0;
    throwsOdds =
        world.mayHappen(Fault.HANDLER_THROWS) && random.nextInt(ODDS) == 0
            ? random.nextInt(1, 8 * ODDS)
            : 0;
  }

  /**
   * Handles the end of an operation.
   *
   * @param submit begins another operation if there is room for it
   */
  void told(Runnable submit) {
    if (submitsOdds > 0 && random.nextInt(submitsOdds) == 0) {
      world.counted(Fault.HANDLER_SUBMITS);
      submit.run();
    }
    if (throwsOdds > 0 && random.nextInt(throwsOdds) == 0) {
      world.counted(Fault.HANDLER_THROWS);
      throw new Failure();
    }
  }
}
