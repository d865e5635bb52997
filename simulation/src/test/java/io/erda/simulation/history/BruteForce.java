package io.erda.simulation.history;

/** Tries every order of a small history of one key: slow, and plain enough to be believed. */
final class BruteForce {
  private BruteForce() {}

  static boolean explains(History history) {
    return extend(history, 0, 0);
  }

  private static boolean extend(History history, int done, long value) {
    boolean complete = true;
    for (int i = 0; i < history.size(); i++) {
      complete &= (done >> i & 1) != 0 || history.outcome(i) != Ending.OK;
    }
    if (complete) {
      return true;
    }
    for (int i = 0; i < history.size(); i++) {
      if ((done >> i & 1) == 0
          && history.outcome(i) != Ending.FAILED
          && mayBeNext(history, done, i)) {
        long next = apply(history, i, value);
        if (next >= 0 && extend(history, done | 1 << i, next)) {
          return true;
        }
      }
    }
    return false;
  }

  /**
   * Nothing that is still to come had returned before it was invoked, and nothing that was done
   * began after it had its last chance.
   */
  private static boolean mayBeNext(History history, int done, int i) {
    for (int j = 0; j < history.size(); j++) {
      if ((done >> j & 1) == 0
          && history.outcome(j) == Ending.OK
          && history.returned(j) < history.invoked(i)) {
        return false;
      }
      boolean before = (done >> j & 1) != 0 && history.invoked(j) > history.returned(i);
      if (before && history.outcome(i) == Ending.UNKNOWN) {
        return false;
      }
    }
    return true;
  }

  private static long applyIf(History history, int i, long value, boolean known) {
    boolean holds = history.expected(i) == value;
    if (known && holds == history.missed(i)) {
      return -1;
    }
    return !holds ? value : history.operation(i) == OperationKind.PUT_IF ? history.value(i) : 0;
  }

  /** The value after it, or -1 when its result does not fit. */
  private static long apply(History history, int i, long value) {
    boolean known = history.outcome(i) == Ending.OK;
    return switch (history.operation(i)) {
      case PUT -> history.value(i);
      case GET -> known && history.value(i) != value ? -1 : value;
      case PUT_IF, DELETE_IF -> applyIf(history, i, value, known);
      case DELETE -> known && history.value(i) != (value == 0 ? 0 : 1) ? -1 : 0;
    };
  }
}
