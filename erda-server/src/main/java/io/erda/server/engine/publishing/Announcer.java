package io.erda.server.engine.publishing;

/** The client behind an announcement. */
public interface Announcer {
  /** Its connection is to end, because it does not write what it announced. */
  void giveUp();

  /** Hears that all puts that it announced in a reservation are decided. */
  void decided(Reservation reservation);
}
