package io.erda.torture;

/**
 * What a process of the torture says that it has done, one line each, so that the director knows
 * that it was done at all: a history does not tell. From any thread.
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

  /** What the line says was done once, or null when it says something else. */
  static Tally in(String line) {
    return line.startsWith(PREFIX) ? valueOf(line.substring(PREFIX.length())) : null;
  }
}
