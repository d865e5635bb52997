package io.erda.server.engine.publishing;

/** The client that made an announcement. */
public interface Announcer {
  /** Disconnects the client, because it does not write the announced object. */
  void giveUp();

  /** Notes that a put which this client announced in a reservation is decided. */
  void decided(Reservation reservation);
}
