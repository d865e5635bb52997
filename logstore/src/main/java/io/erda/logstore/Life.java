package io.erda.logstore;

/**
 * The phase of a log: it recovers until its marks are closed, then it is in use, and at the end it
 * is closed. One thread.
 */
final class Life {
  private enum State {
    RECOVERING,
    IN_USE,
    CLOSED
  }

  private State state = State.RECOVERING;

  boolean recovering() {
    return state == State.RECOVERING;
  }

  boolean inUse() {
    return state == State.IN_USE;
  }

  boolean closed() {
    return state == State.CLOSED;
  }

  /** Notes that no object of an earlier run is undecided any more. */
  void begin() {
    assert state == State.RECOVERING : state;
    state = State.IN_USE;
  }

  void end() {
    state = State.CLOSED;
  }

  void requireInUse() {
    switch (state) {
      case RECOVERING ->
          throw new IllegalStateException("the marks of the last run are not closed yet");
      case IN_USE -> {}
      case CLOSED -> throw new IllegalStateException("the log is closed");
    }
  }
}
