package io.erda.simulation.system;

/**
 * What a simulation does to a system. Counted when it really happened, not when it was asked for.
 */
public enum Fault {
  /** The server's process ends between two steps. */
  SERVER_CRASH,
  /**
   * The server's process ends inside a store, flush, drain or change of the directory while it
   * serves.
   */
  SERVER_CRASH_IN_STORE,
  /** As before, while it starts. */
  SERVER_CRASH_IN_RECOVERY,
  /** The server's host loses its power: comes on top of one of the crashes. */
  POWER_FAILURE,
  /** The server's process stops for a while. */
  SERVER_PAUSE,
  /** A client's process ends. */
  CLIENT_CRASH,
  /** A client's process stops for a while. */
  CLIENT_PAUSE,
  /** A connection is lost. */
  CONNECTION_LOSS
}
