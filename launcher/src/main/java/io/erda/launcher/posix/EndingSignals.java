package io.erda.launcher.posix;

import java.util.List;
import java.util.function.Consumer;
import jnr.constants.platform.Signal;
import jnr.posix.util.SunMiscSignal;

/**
 * The signals that end a server, with their names told, so that its log says who ended it. By
 * themselves some of them end the JVM cleanly, and others, such as SIGXCPU, without a word. A
 * signal that the process was started to ignore, as SIGHUP by nohup, is ignored.
 */
public final class EndingSignals {
  private static final List<Signal> ALL =
      List.of(
          Signal.SIGHUP,
          Signal.SIGINT,
          Signal.SIGTERM,
          Signal.SIGUSR1,
          Signal.SIGXCPU,
          Signal.SIGPWR);

  /** What a shell adds to the number of a signal that ended a process. */
  private static final int ENDED_BY = 128;

  private EndingSignals() {}

  /**
   * From now on each of these signals is told, and ends the JVM.
   *
   * @param told gets the name, in a thread of the JVM's; must return soon
   */
  public static void tell(Consumer<String> told) {
    for (Signal signal : ALL) {
      try {
        SunMiscSignal.signal(
            signal,
            number -> {
              try {
                told.accept(signal.name());
              } finally {
                System.exit(ENDED_BY + signal.intValue());
              }
            });
      } catch (RuntimeException e) {
        // With -Xrs the JVM leaves SIGHUP, SIGINT and SIGTERM to whoever started it.
      }
    }
  }
}
