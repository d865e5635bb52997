package io.erda.server;

/** Says which processes commit updates and deletes of keys that have a value. */
public enum Committers {
  /** The server. */
  NONE,

  /**
   * Clients over shared memory whose processes belong to the server's own user; the server does so
   * for all others. They can damage the store, as any process of that user can.
   */
  OWN
}
