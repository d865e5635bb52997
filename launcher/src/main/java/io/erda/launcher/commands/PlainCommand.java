package io.erda.launcher.commands;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * Parses the simplest lines, which scripts run often, without picocli: reading the annotations of a
 * command takes longer than the command itself. Lines with options other than {@code --uri URI}, or
 * with errors, are left to picocli.
 */
public final class PlainCommand {
  private static final String URI = "--uri";

  private PlainCommand() {}

  /** The command of a line, or null when picocli must parse it. */
  public static Callable<Integer> of(String... line) {
    if (line.length == 0 || !(line[0].equals("get") || line[0].equals("put"))) {
      return null;
    }
    String uri = null;
    List<String> words = new ArrayList<>();
    for (int i = 1; i < line.length; i++) {
      if (line[i].equals(URI) && uri == null && i + 1 < line.length && isWord(line[i + 1])) {
        uri = line[++i];
      } else if (isWord(line[i])) {
        words.add(line[i]);
      } else {
        return null;
      }
    }
    uri = uri == null ? System.getenv("ERDA_URI") : uri;
    if (uri == null || uri.isEmpty()) {
      return null;
    }
    if (line[0].equals("put")) {
      return words.size() == 2 ? PutCommand.of(uri, words) : null;
    }
    return words.isEmpty() ? null : GetCommand.of(uri, words);
  }

  private static boolean isWord(String text) {
    return !text.isEmpty() && text.charAt(0) != '-';
  }
}
