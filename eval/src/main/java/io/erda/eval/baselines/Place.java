package io.erda.eval.baselines;

/** One place of the log, from its reservation until its record is applied. */
final class Place {
  /** The state of a place. */
  enum State {
    /** A client was told to WRITE to the place. */
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

  /** The key word, once the record was found. */
  long keyWord;

  /** The remote key with which the client WRITEs, for its queue pair to revoke. */
  long grantedKey;

  Place(long position, int objectBytes, long givenNs) {
    this.position = position;
    this.objectBytes = objectBytes;
    this.givenNs = givenNs;
  }
}
