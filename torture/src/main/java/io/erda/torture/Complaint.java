package io.erda.torture;

import static java.nio.charset.StandardCharsets.US_ASCII;

/** What a process of the torture says that must not be: one line that the director takes over. */
final class Complaint {
  private static final String PREFIX = "wrong: ";

  static void say(String what) {
    System.out.println(PREFIX + what.replace('\n', ' '));
  }

  static void say(int key, String what) {
    say(new String(TortureValue.key(key), US_ASCII) + ": " + what);
  }

  /** What the line says, or null when it is no complaint. */
  static String in(String line) {
    return line.startsWith(PREFIX) ? line.substring(PREFIX.length()) : null;
  }

  private Complaint() {}
}
