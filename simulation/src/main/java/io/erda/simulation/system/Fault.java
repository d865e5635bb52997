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
  /** The server's process ends inside one of these while it starts. */
  SERVER_CRASH_IN_RECOVERY,
  /** The server is stopped in order: it closes the store. */
  SERVER_STOP,
  /**
   * A process opens the store for itself and clients of its own, while those of the server before
   * live on.
   */
  EMBEDDED_OPENING,
  /** A client of a server that died begins to store into its memory after that. */
  STORE_OF_THE_LEFT,
  /** An opening promises that everything survives a power failure, what was stored before too. */
  PROMISE_RAISED,
  /** An opening asks for less than the store has promised. */
  PROMISE_GIVEN_UP,
  /** The store is inspected while nobody has it open. */
  INSPECTION,
  /** The server's host loses its power: comes on top of one of the crashes. */
  POWER_FAILURE,
  /** A power failure takes what the host knew of the keys of registered memory. */
  KEYS_LOST,
  /** The server's process stops for a while. */
  SERVER_PAUSE,
  /** A client's process ends. */
  CLIENT_CRASH,
  /** A client's process ends while it posts: at each step of a put, as it comes. */
  CLIENT_CRASH_IN_POST,
  /** A client's process stops for a while. */
  CLIENT_PAUSE,
  /** A client's process becomes slow for a while. */
  CLIENT_SLOW,
  /** A client is closed in order while its operations are in flight. */
  CLIENT_CLOSE,
  /** A handler submits the next operation while it is told of the end of another. */
  HANDLER_SUBMITS,
  /** A handler throws. */
  HANDLER_THROWS,
  /** A peer sends what is no request: its connection has to end. */
  CLIENT_GARBAGE,
  /** A client sees no completions for a while, then all of them. */
  COMPLETIONS_DELAYED,
  /** A connection is lost. */
  CONNECTION_LOSS,
  /** The disk takes no new file for a while; counted when a client was told. */
  DISK_FULL,
  /** The log has no room; counted when a client was told. */
  LOG_FULL,
  /** The table has no room; counted when a client was told. */
  TABLE_FULL,
  /** A byte of a file changes on the medium, at the end. */
  BYTE_CORRUPTED,
  /** An older version of a key lies, whole, where its newest one should, at the end. */
  OBJECT_MISPLACED,
  /** A file loses its end, at the end. */
  FILE_CUT,
  /** A page of a file, or one word of it, becomes zeros on the medium, at the end. */
  ZEROED,
  /** A file is missing, at the end. */
  FILE_MISSING,
  /** A file is as it was earlier, at the end. */
  FILE_OLDER,
  /**
   * The device fails to write what was flushed, once and from then on; counted when the server
   * takes no more puts because of it.
   */
  DRAIN_FAILED,
  /** A file that nothing needs any more can't be removed; the server goes on. */
  REMOVAL_FAILED,
  /** An opening lets the log grow to more than until then. */
  CAPACITY_RAISED,
  /** An opening lets the log grow to less than until then. */
  CAPACITY_LOWERED
}
