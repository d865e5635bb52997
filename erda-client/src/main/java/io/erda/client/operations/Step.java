package io.erda.client.operations;

import io.erda.client.connections.Connections;

/**
 * The event that an {@link Operation} waits for. In a step {@code POST_…} a message, READ or WRITE
 * could not be posted yet, because a queue was full: {@link Operation#resume} posts it.
 */
public enum Step {
  /** The slot is free. */
  IDLE,

  /** The operation ended; its outcome was not told yet. */
  DONE,

  /** A suitable connection: see {@link Connections#readSession}. */
  WAIT_SESSION,

  /** A newer region map of the session. */
  WAIT_MAP,

  /** A pause until {@link Operation#wakeNs}. */
  BACKOFF,

  // Gets and iterations: READs.
  POST_LOOK_UP,

  /** The READs of a key word's neighbourhood, and of the root after them. */
  READING_LOOK_UP,
  POST_OBJECT,

  /** The READ of the beginning of an object, or of all of it. */
  READING_OBJECT,
  POST_REST,

  /** The READ of the rest of an object. */
  READING_REST,
  POST_TABLE,

  /** The READs of a stretch of the table, and of the root after them. */
  READING_TABLE,
  POST_OBJECTS,

  /** The READs of the objects of a stretch. */
  READING_OBJECTS,

  // Gets: the server's answer about an object that is not whole.
  POST_RESOLVE,
  RESOLVING,

  // Puts and deletes: waits for earlier operations on the same key, and for a place in the log.
  /** The end of an earlier put of the same key. */
  WAIT_TURN,

  /** The posting of earlier puts in the same lease. */
  WAIT_PLACE,

  /** Space in the log. */
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

  /** The READ of the root after the WRITE. */
  READING_ROOT,

  // Deletes for which there is no space.
  POST_ERASE,
  ERASING,

  // The server's figures.
  POST_STATS,
  POST_CLEAN,

  /** The answer to a request for figures, or for a cleaning. */
  ASKED;

  /** Whether the operation is under way. */
  public boolean isActive() {
    return this != IDLE && this != DONE;
  }

  /** Whether the operation now needs only READs, which go on without a server. */
  public boolean isReading() {
    return compareTo(POST_LOOK_UP) >= 0 && compareTo(READING_OBJECTS) <= 0;
  }
}
