package io.erda.server.engine.publishing;

/**
 * The client behind a put or a delete that is published or was announced; the service implements
 * this by its connections. The client may leave at any time. Then it may have been told that its
 * requests which the server has not claimed never take effect.
 */
public interface Requester {
  /**
   * Claims the client's requests, as the last check before they take effect. Returns false when the
   * client has left: then none of the requests may take effect.
   */
  boolean claim();

  /** Whether the client is still connected, after its messages were claimed. */
  boolean isThere();

  /** Disconnects the client, because it does not write the announced object. */
  void giveUp();

  /** Notes that a put which this client announced in a reservation is decided. */
  void decided(Reservation reservation);
}
