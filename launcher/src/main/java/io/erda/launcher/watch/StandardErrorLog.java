package io.erda.launcher.watch;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.text.MessageFormat;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ResourceBundle;
import java.util.function.Supplier;

/**
 * The log of a server process: a line each on standard error, with the time in UTC and a level. Any
 * thread may log.
 *
 * <p>Not java.util.logging, whose handlers are closed by a shutdown hook while ours still stops the
 * server: its last line would get lost. Who configures java.util.logging gets it nevertheless.
 */
public final class StandardErrorLog implements System.Logger {
  private static final String NAME = "io.erda.server";

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  private final PrintWriter err;
  private final Level least;
  private final Supplier<Instant> clock;

  StandardErrorLog(PrintWriter err, Level least, Supplier<Instant> clock) {
    this.err = err;
    this.least = least;
    this.clock = clock;
  }

  /**
   * The logger of this process: java.util.logging's where {@code java.util.logging.config.file} or
   * {@code …config.class} is set, else one that writes to {@code err}.
   *
   * @param debug whether {@code err} gets lines of the level DEBUG
   */
  public static System.Logger start(PrintWriter err, boolean debug) {
    boolean configured =
        System.getProperty("java.util.logging.config.file") != null
            || System.getProperty("java.util.logging.config.class") != null;
    return configured
        ? System.getLogger(NAME)
        : new StandardErrorLog(err, debug ? Level.DEBUG : Level.INFO, Instant::now);
  }

  @Override
  public String getName() {
    return NAME;
  }

  @Override
  public boolean isLoggable(Level level) {
    return level != Level.OFF && level.getSeverity() >= least.getSeverity();
  }

  @Override
  public void log(Level level, ResourceBundle bundle, String message, Throwable thrown) {
    if (!isLoggable(level)) {
      return;
    }
    StringWriter trace = new StringWriter();
    if (thrown != null) {
      thrown.printStackTrace(new PrintWriter(trace, true));
    }
    print(level, message, trace.toString());
  }

  @Override
  public void log(Level level, ResourceBundle bundle, String format, Object... parameters) {
    if (isLoggable(level)) {
      boolean plain = parameters == null || parameters.length == 0;
      print(level, plain ? format : MessageFormat.format(format, parameters), "");
    }
  }

  /** A text from outside may hold what would look like another line. */
  private void print(Level level, String text, String behind) {
    String when = TIME.format(clock.get());
    String name = level == Level.WARNING ? "WARN" : level.getName();
    String line = when + " " + name + " " + text.replaceAll("\\p{Cntrl}+", "; ");
    synchronized (err) {
      err.print(line + "\n" + behind);
      err.flush();
    }
  }
}
