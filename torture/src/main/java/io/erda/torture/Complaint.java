package io.erda.torture;

import static java.nio.charset.StandardCharsets.US_ASCII;

/** A violation that a process of the torture reports: one line that the director collects. */
final class Complaint {
  private static final String PREFIX = "wrong: ";

  static void say(String what) {
    System.out.println(PREFIX + what.replace('\n', ' '));
  }

  static void say(int key, String what) {
    say(new String(TortureValue.key(key), US_ASCII) + ": " + what);
  }

  /** The text of the complaint in a line, or null when it is none. */
  static String in(String line) {
    return line.startsWith(PREFIX) ? line.substring(PREFIX.length()) : null;
  }

  private Complaint() {}
}
