package io.erda.server.engine.publishing;

/** The client that made an announcement. */
public interface Announcer {
  /** Disconnects the client, because it does not write the announced object. */
  void giveUp();

  /** Notes that all puts that this client announced in a reservation are decided. */
  void decided(Reservation reservation);
}
