package io.erda.torture;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * The exceptions that a handler threw; all of them must come out of the calls that called the
 * handler. Any thread.
 */
final class HandlerExceptions {
  /** An exception that a handler throws on purpose. */
  static final class Thrown extends RuntimeException {
    private static final long serialVersionUID = 1;

    Thrown() {
      super("a handler threw this on purpose", null, true, false);
    }
  }

  private final List<Thrown> thrown = new ArrayList<>();
  private final List<Thrown> caught = new ArrayList<>();

  /** The next exception to throw. */
  synchronized Thrown next() {
    Thrown next = new Thrown();
    thrown.add(next);
    return next;
  }

  /** Notes an exception that came out, with suppressed ones. */
  synchronized void caught(Thrown exception) {
    caught.add(exception);
  }

  /** Requires that all exceptions have come out. REQUIRES: no call is under way. */
  synchronized void requireAllCaught() {
    Set<Throwable> out = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Thrown each : caught) {
      out.add(each);
      out.addAll(List.of(each.getSuppressed()));
    }
    long lost = thrown.stream().filter(each -> !out.contains(each)).count();
    if (lost > 0 || out.size() != thrown.size()) {
      Complaint.say(
          "the handler threw "
              + thrown.size()
              + " exceptions, of which "
              + lost
              + " did not come out of the client");
    }
    thrown.clear();
    caught.clear();
  }
}
