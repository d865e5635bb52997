package io.erda.server.engine.events;

import java.util.function.Supplier;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;

/**
 * Makes JFR events only when somebody records or did: the first event that a process makes sets JFR
 * up, which costs a tenth of a second, and the server's thread would spend it in front of a put.
 */
public final class Events {
  private Events() {}

  /** An event that begins now; null when nobody recorded yet. */
  public static <E extends Event> E begin(Supplier<E> make) {
    if (!FlightRecorder.isInitialized()) {
      return null;
    }
    E event = make.get();
    event.begin();
    return event;
  }

  /** Whether it is worth to fill the event in. */
  public static boolean wanted(Event event) {
    return event != null && event.shouldCommit();
  }
}
