package io.erda.verbs;

import java.lang.foreign.MemorySegment;

/** The counts of a connection, which each end sends to the other in every message. */
final class Accounts {
  /** The work of this end on the peer's memory, and of the peer on this end's. */
  final Moved moved = new Moved();

  final Moved peerMoved = new Moved();

  // Counts of messages of the caller.
  int sent;
  int consumedByPeer;
  int consumed;
  private int consumedTold;

  // Counts of claimed and finished messages.
  long claimed;
  long finished;
  boolean withdrawn;
  boolean peerWithdrew;
  long claimedByPeer = Long.MAX_VALUE;
  long finishedByPeer;

  /** Whether the peer has room for a message. */
  boolean hasCredit() {
    return sent - consumedByPeer < MessageQueue.CREDITS;
  }

  /** How many messages were consumed without telling the peer. */
  int untold() {
    return consumed - consumedTold;
  }

  /** Writes this end's counts into the header of an outgoing message. */
  void tell(MemorySegment to, long at) {
    consumedTold = consumed;
    Header.setState(to, at, consumed, finished, moved);
  }

  /** Takes the peer's counts from the header of an incoming message. */
  void hear(MemorySegment from, long at) {
    consumedByPeer = Header.consumed(from, at);
    finishedByPeer = Header.finished(from, at);
    Header.moved(from, at, peerMoved);
  }
}
