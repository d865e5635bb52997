package io.erda.server.engine.publishing;

/**
 * The client that asked for a put or a delete. It may leave at any time, and may then know that
 * nothing takes effect of what it had sent and the server had not claimed.
 */
public interface Requester {
  /**
   * The last look before what it sent takes effect. When it is false it has left: it may have been
   * told already that nothing of it will.
   */
  boolean claim();

  /** Whether it is still there, of a requester whose messages were claimed. */
  boolean isThere();
}
