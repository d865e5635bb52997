package io.erda.server.engine;

/** The client behind an announcement. */
interface Announcer {
  /** Its connection is to end, because it does not write what it announced. */
  void giveUp();

  /** What it announced in a reservation is decided. */
  void decided(Reservation reservation);
}
