package io.erda.server.engine.publishing;

import io.erda.hashtable.Entry;

/** An object that a key's pending word names, and that its client is going to write. */
public final class Announcement {
  final Announcer announcer;
  final Reservation reservation;
  final long keyWord;

  /** Offset of the place, which the word names as its newest version. */
  final int offset;

  final long sinceNs;

  /** Whether somebody came by who needs the word decided. */
  boolean wanted;

  public Announcement(
      Announcer announcer, Reservation reservation, long keyWord, int offset, long sinceNs) {
    this.announcer = announcer;
    this.reservation = reservation;
    this.keyWord = keyWord;
    this.offset = offset;
    this.sinceNs = sinceNs;
  }

  int head() {
    return Entry.headOf(keyWord);
  }
}
