package io.erda.client.operations;

import io.erda.client.connections.Connections;

/**
 * What an {@link Operation} waits for. {@code POST_…} are those whose message, READ or WRITE could
 * not be posted yet, because a queue was full: {@link Operation#resume} posts it.
 */
public enum Step {
  /** Its slot is free. */
  IDLE,

  /** It ended; whoever asked was not told yet. */
  DONE,

  /** A connection that will do: see {@link Connections#readSession}. */
  WAIT_SESSION,

  /** A newer region map of its session. */
  WAIT_MAP,

  /** {@link Operation#wakeNs}. */
  BACKOFF,

  // Gets and iterations: READs.
  POST_LOOK_UP,

  /** The READs of a key word's neighbourhood, and of the root behind them. */
  READING_LOOK_UP,
  POST_OBJECT,

  /** The READ of an object's beginning, or of all of it. */
  READING_OBJECT,
  POST_REST,

  /** The READ of the rest of an object. */
  READING_REST,
  POST_TABLE,

  /** The READs of a stretch of the table, and of the root behind them. */
  READING_TABLE,
  POST_OBJECTS,

  /** The READs of the objects of a stretch. */
  READING_OBJECTS,

  // Gets: what the server says of an object that is not whole.
  POST_RESOLVE,
  RESOLVING,

  // Puts and deletes: their turn, and a place in the log.
  /** An earlier put of the same key. */
  WAIT_TURN,

  /** Puts that have a place in the same lease and could not be posted yet. */
  WAIT_PLACE,

  /** Space to write to. */
  WAIT_LEASE,

  // Puts that are published last.
  POST_WRITE,
  POST_PUBLISH,
  PUBLISHED,

  // Puts that are announced first.
  POST_ANNOUNCE,
  ANNOUNCED,
  POST_ANNOUNCED_WRITE,
  POST_ROOT,

  /** The READ of the root behind the WRITE. */
  READING_ROOT,

  // Deletes for which there is no space.
  POST_ERASE,
  ERASING,

  // The server's figures.
  POST_STATS,
  POST_CLEAN,

  /** The answer to a request for figures, or for a cleaning. */
  ASKED;

  /** Whether an operation is under way. */
  public boolean isActive() {
    return this != IDLE && this != DONE;
  }

  /** Whether it needs nothing but READs now, which a server that is gone does not stop. */
  public boolean isReading() {
    return compareTo(POST_LOOK_UP) >= 0 && compareTo(READING_OBJECTS) <= 0;
  }
}
