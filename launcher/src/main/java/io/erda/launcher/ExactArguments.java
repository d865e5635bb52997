package io.erda.launcher;

import io.erda.console.UserError;
import io.erda.launcher.commands.ExactText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The arguments of this process, byte for byte. The JVM decodes them by the locale, and bytes for
 * which the locale has no character become U+FFFD: in the C locale of cron jobs and services every
 * byte that is not ASCII, so that two keys would become one. The kernel still has the bytes.
 */
final class ExactArguments {
  private static final Path COMMAND_LINE = Path.of("/proc/self/cmdline");
  private static final char REPLACEMENT = '\uFFFD';

  /**
   * Returns the bytes that the JVM decoded to {@code args}, as {@link ExactText}.
   *
   * @throws UserError when characters were lost and can't be recovered
   */
  static String[] of(String[] args) {
    byte[] commandLine;
    try {
      commandLine = Files.readAllBytes(COMMAND_LINE);
    } catch (IOException e) {
      return requireWhole(args);
    }
    return of(args, commandLine);
  }

  /**
   * @param commandLine each word of the process's command line with a zero byte behind it; the
   *     JVM's own words come first
   */
  static String[] of(String[] args, byte[] commandLine) {
    List<String> words = words(commandLine);
    if (words.size() < args.length) {
      return requireWhole(args);
    }
    List<String> last = words.subList(words.size() - args.length, words.size());
    for (int i = 0; i < args.length; i++) {
      if (!agrees(args[i], last.get(i))) {
        return requireWhole(args);
      }
    }
    return last.toArray(String[]::new);
  }

  private static List<String> words(byte[] commandLine) {
    List<String> words = new ArrayList<>();
    int begin = 0;
    for (int at = 0; at < commandLine.length; at++) {
      if (commandLine[at] == 0) {
        words.add(ExactText.of(Arrays.copyOfRange(commandLine, begin, at)));
        begin = at + 1;
      }
    }
    return words;
  }

  /** Whether the JVM may have decoded a word to this text: every locale keeps ASCII. */
  private static boolean agrees(String decoded, String exact) {
    return ascii(decoded).equals(ascii(exact));
  }

  private static String ascii(String text) {
    StringBuilder ascii = new StringBuilder();
    // No stream, because loading its classes would take a good part of a short command's time.
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) < 0x80) {
        ascii.append(text.charAt(i));
      }
    }
    return ascii.toString();
  }

  private static String[] requireWhole(String[] args) {
    for (String arg : args) {
      if (arg.indexOf(REPLACEMENT) >= 0) {
        throw new UserError(
            "this locale has no characters for some bytes of '"
                + arg
                + "': set LC_ALL=C.UTF-8, or give the bytes with --hex, --base64 or --key-file",
            2);
      }
    }
    return args;
  }

  private ExactArguments() {}
}
