package io.erda.simulation.system;

/**
 * The faults that a simulation injects. Counted when it really happened, not when it was asked for.
 */
public enum Fault {
  /** The server's process ends between two steps. */
  SERVER_CRASH,
  /**
   * The server's process ends inside a store, flush, drain or change of the directory while it
   * serves.
   */
  SERVER_CRASH_IN_STORE,
  /** The server's process ends inside one of these events while it starts. */
  SERVER_CRASH_IN_RECOVERY,
  /** The server is stopped in order: it closes the store. */
  SERVER_STOP,
  /**
   * A process opens the store for itself and its own clients, while clients of the server before
   * live on.
   */
  EMBEDDED_OPENING,
  /** A client of a dead server begins to store into that server's memory. */
  STORE_OF_THE_LEFT,
  /** An opening promises that everything survives a power failure, earlier stores too. */
  PROMISE_RAISED,
  /** An opening asks for less than the store has promised. */
  PROMISE_GIVEN_UP,
  /** The store is inspected while no process has it open. */
  INSPECTION,
  /** The server's host loses its power, in addition to one of the crashes. */
  POWER_FAILURE,
  /** A power failure loses the host's table of keys of registered memory. */
  KEYS_LOST,
  /** The server's process stops for a while. */
  SERVER_PAUSE,
  /** A client's process ends. */
  CLIENT_CRASH,
  /** A client's process ends inside a post, at any step of a put. */
  CLIENT_CRASH_IN_POST,
  /** A client's process stops for a while. */
  CLIENT_PAUSE,
  /** A client's process becomes slow for a while. */
  CLIENT_SLOW,
  /** A client is closed in order while its operations are in flight. */
  CLIENT_CLOSE,
  /** A handler submits the next operation while it is told the end of another one. */
  HANDLER_SUBMITS,
  /** A handler throws. */
  HANDLER_THROWS,
  /** A peer sends bytes that are no request: its connection must end. */
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
   * The device fails to write flushed words, once and from then on; counted when the server takes
   * no more puts because of it.
   */
  DRAIN_FAILED,
  /** A file that is not needed any more can't be removed; the server goes on. */
  REMOVAL_FAILED,
  /** An opening raises the log's capacity. */
  CAPACITY_RAISED,
  /** An opening lowers the log's capacity. */
  CAPACITY_LOWERED
}
