package io.erda.launcher;

import io.erda.console.UserError;
import java.util.ArrayList;
import java.util.List;

/**
 * The words of a line, quoted as in a POSIX shell (Shell Command Language, 2.2): text between two '
 * is literal; between two " a \ quotes ", \, $ and `, and is literal otherwise; outside of quotes \
 * quotes the character after it. Adjacent parts are one word.
 */
final class ShellWords {
  private static final String BLANKS = " \t\r";
  private static final String QUOTED_IN_DOUBLE_QUOTES = "\"\\$`";
  private static final int WRONG_USAGE = 2;

  private final String line;
  private int at;

  private ShellWords(String line) {
    this.line = line;
  }

  /**
   * The words of {@code line}.
   *
   * @throws UserError when a quote is not closed, or nothing follows the last \
   */
  static List<String> of(String line) {
    ShellWords words = new ShellWords(line);
    List<String> all = new ArrayList<>();
    while (words.skipBlanks()) {
      all.add(words.next());
    }
    return all;
  }

  /** Skips blanks. Returns whether something follows. */
  private boolean skipBlanks() {
    while (at < line.length() && isBlank(line.charAt(at))) {
      at++;
    }
    return at < line.length();
  }

  private static boolean isBlank(char character) {
    return BLANKS.indexOf(character) >= 0;
  }

  private String next() {
    StringBuilder word = new StringBuilder();
    while (at < line.length() && !isBlank(line.charAt(at))) {
      char character = line.charAt(at++);
      switch (character) {
        case '\'' -> singleQuoted(word);
        case '"' -> doubleQuoted(word);
        case '\\' -> word.append(quotedCharacter());
        default -> word.append(character);
      }
    }
    return word.toString();
  }

  private void singleQuoted(StringBuilder word) {
    int end = line.indexOf('\'', at);
    if (end < 0) {
      throw unfinished("a quote has no other half");
    }
    word.append(line, at, end);
    at = end + 1;
  }

  private void doubleQuoted(StringBuilder word) {
    while (at < line.length()) {
      char character = line.charAt(at++);
      if (character == '"') {
        return;
      }
      boolean quotes =
          character == '\\'
              && at < line.length()
              && QUOTED_IN_DOUBLE_QUOTES.indexOf(line.charAt(at)) >= 0;
      word.append(quotes ? quotedCharacter() : character);
    }
    throw unfinished("a quote has no other half");
  }

  private char quotedCharacter() {
    if (at == line.length()) {
      throw unfinished("there is nothing behind the last \\");
    }
    return line.charAt(at++);
  }

  private UserError unfinished(String what) {
    return new UserError(what + ": " + line, WRONG_USAGE);
  }
}
