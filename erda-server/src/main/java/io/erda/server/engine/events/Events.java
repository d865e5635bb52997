package io.erda.server.engine.events;

import java.util.function.Supplier;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;

/**
 * Makes JFR events only once a recording has been started: the first event that a process makes
 * sets JFR up, which takes a tenth of a second, and the server's thread would spend it before a
 * put.
 */
public final class Events {
  private Events() {}

  /** Begins an event; null when no recording was ever started. */
  public static <E extends Event> E begin(Supplier<E> make) {
    if (!FlightRecorder.isInitialized()) {
      return null;
    }
    E event = make.get();
    event.begin();
    return event;
  }

  /** Whether the event will be recorded, so that its fields have to be set. */
  public static boolean wanted(Event event) {
    return event != null && event.shouldCommit();
  }
}
