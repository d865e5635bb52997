package io.erda.server.engine.publishing;

import io.erda.hashtable.Entry;

/** An announced put. A key's pending word names the object that its client is going to write. */
public final class Announcement {
  final Requester announcer;
  final Reservation reservation;
  final long keyWord;

  /** The offset of the object, which the word names as its newest version. */
  final int offset;

  final long sinceNs;

  /** Whether another operation needs the word to be decided. */
  boolean wanted;

  public Announcement(
      Requester announcer, Reservation reservation, long keyWord, int offset, long sinceNs) {
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
