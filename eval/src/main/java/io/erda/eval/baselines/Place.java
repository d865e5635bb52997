package io.erda.eval.baselines;

/** One place of the log, from when it is given until its record is applied. */
final class Place {
  /** Who a place was given to and what became of it. */
  enum State {
    /** A client was told to WRITE there. */
    GIVEN,
    /** Its record is whole, durable and in the index. */
    SEEN,
    /** Its client left without writing. */
    GIVEN_UP
  }

  final long position;
  final int objectBytes;
  final long givenNs;
  State state = State.GIVEN;

  /** Of the key, once the record was seen. */
  long keyWord;

  /** What the client WRITEs with, for its queue pair to revoke. */
  long grantedKey;

  Place(long position, int objectBytes, long givenNs) {
    this.position = position;
    this.objectBytes = objectBytes;
    this.givenNs = givenNs;
  }
}
