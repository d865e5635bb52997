package io.erda.console;

import java.util.regex.Pattern;

/**
 * Makes texts safe to print that may contain text from a user, a file or a peer, such as the name
 * of a file: they have no control characters and no line ends.
 */
public final class OneLine {
  private static final Pattern CONTROL = Pattern.compile("\\p{Cc}");

  /** The text, with control characters written out. */
  public static String of(String text) {
    return CONTROL
        .matcher(text)
        .replaceAll(found -> "\\\\u%04x".formatted((int) found.group().charAt(0)));
  }

  private OneLine() {}
}
