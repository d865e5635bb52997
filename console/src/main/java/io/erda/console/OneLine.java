package io.erda.console;

import java.util.regex.Pattern;

/**
 * Texts that have in them what a user, a file or a peer has said, the name of a file for example: a
 * terminal is to obey none of that, and a line stays one.
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
