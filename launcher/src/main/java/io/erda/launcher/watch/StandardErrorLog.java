package io.erda.launcher.watch;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.text.MessageFormat;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ResourceBundle;
import java.util.function.Supplier;
import java.util.logging.LogManager;

/**
 * The log of a server process: a line each on standard error, with the time in UTC and a level. Any
 * thread may log.
 *
 * <p>It does not use java.util.logging, which starts slowly, unless that is configured; then its
 * handlers stay open until {@link #end}.
 */
public final class StandardErrorLog implements System.Logger {
  private static final String NAME = "io.erda.server";

  /** The property with the class of the log manager, which the JDK makes with the first logger. */
  private static final String MANAGER = "java.util.logging.manager";

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
   * The logger of this process: that of java.util.logging when {@code
   * java.util.logging.config.file} or {@code …config.class} is set, else one that writes to {@code
   * err}.
   *
   * @param debug whether {@code err} gets lines of the level DEBUG
   */
  public static System.Logger start(PrintWriter err, boolean debug) {
    boolean configured =
        System.getProperty("java.util.logging.config.file") != null
            || System.getProperty("java.util.logging.config.class") != null;
    if (!configured) {
      return new StandardErrorLog(err, debug ? Level.DEBUG : Level.INFO, Instant::now);
    }
    if (System.getProperty(MANAGER) == null) {
      System.setProperty(MANAGER, LastingLogManager.class.getName());
    }
    System.Logger logger = System.getLogger(NAME);
    if (LogManager.getLogManager() instanceof LastingLogManager manager) {
      manager.last();
    }
    return logger;
  }

  /** Called after the last line was logged: handlers write what they have buffered. */
  public static void end() {
    boolean used = System.getProperty(MANAGER) != null;
    if (used && LogManager.getLogManager() instanceof LastingLogManager manager) {
      manager.end();
    }
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

  /**
   * Prints a line. Line ends in a text from outside are replaced, so that it can't look like
   * another line.
   */
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
