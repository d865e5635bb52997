package io.erda.server.engine.publishing;

/**
 * The client that asked for a put or a delete. It may leave at any time. A client that has left may
 * have been told that the requests which the server had not claimed never take effect.
 */
public interface Requester {
  /**
   * Claims the client's requests, as the last check before they take effect. Returns false when the
   * client has left: then none of the requests may take effect.
   */
  boolean claim();

  /** Whether the client is still connected, after its messages were claimed. */
  boolean isThere();
}
