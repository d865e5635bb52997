package io.erda.torture;

/**
 * Lines by which a process of the torture reports certain work, so that the director knows that it
 * was done, which a history does not show. Any thread.
 */
enum Tally {
  /** Iterations that came to their end. */
  ITERATIONS,
  /** Calls with several keys. */
  SEVERAL;

  private static final String PREFIX = "did: ";

  static void count(Tally what) {
    System.out.println(PREFIX + what.name());
  }

  /** The work that a line reports, or null when it reports none. */
  static Tally in(String line) {
    return line.startsWith(PREFIX) ? valueOf(line.substring(PREFIX.length())) : null;
  }
}
