package io.erda.verbs;

import java.lang.foreign.MemorySegment;

/** What the two ends of a connection count of their messages, and tell each other in each. */
final class Accounts {
  /** What this end moved to and from the peer's memory, and the peer to and from ours. */
  final Moved moved = new Moved();

  final Moved peerMoved = new Moved();

  // Messages of the caller's.
  int sent;
  int consumedByPeer;
  int consumed;
  private int consumedTold;

  // The end of messages.
  long claimed;
  long finished;
  boolean withdrawn;
  boolean peerWithdrew;
  long claimedByPeer = Long.MAX_VALUE;
  long finishedByPeer;

  /** How many messages the peer has room for. */
  boolean hasCredit() {
    return sent - consumedByPeer < MessageQueue.CREDITS;
  }

  /** How many messages were consumed that the peer does not know of. */
  int untold() {
    return consumed - consumedTold;
  }

  /** Writes what this end tells into the header of a message that goes out. */
  void tell(MemorySegment to, long at) {
    consumedTold = consumed;
    Header.setState(to, at, consumed, finished, moved);
  }

  /** Takes what the peer tells from the header of a message that came in. */
  void hear(MemorySegment from, long at) {
    consumedByPeer = Header.consumed(from, at);
    finishedByPeer = Header.finished(from, at);
    Header.moved(from, at, peerMoved);
  }
}
