package io.erda.launcher;

import io.erda.console.UserError;
import io.erda.launcher.commands.ExactText;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** Runs lines as command lines of this program, one after the other. */
final class Shell {
  private static final String URI = "--uri";
  private static final Pattern NEWLINE = Pattern.compile("-[a-z0-9]*n.*|--newline");
  private static final int WRONG_USAGE = 2;

  private final String uri;
  private final PrintWriter out;
  private final PrintWriter err;
  private boolean ended;
  private int firstFailure;

  /** The standard input of commands when the shell reads its own lines from standard input. */
  private static final class NoInput extends InputStream {
    @Override
    public int read() {
      return read(new byte[1], 0, 1);
    }

    @Override
    public int read(byte[] into, int offset, int length) {
      throw new UserError("standard input is where the lines of this shell come from");
    }
  }

  /**
   * @param uri the store of commands that name none; null: commands must name one
   */
  Shell(String uri, PrintWriter out, PrintWriter err) {
    this.uri = uri;
    this.out = out;
    this.err = err;
  }

  /** Whether a line has ended the shell. */
  boolean ended() {
    return ended;
  }

  /**
   * Runs the lines of a stream, taking their bytes exactly. A command that reads standard input
   * fails, because it would read the shell's lines. Returns the exit code of the first command that
   * failed, or 0.
   */
  int run(InputStream lines) throws IOException {
    InputStream standardInput = System.in;
    System.setIn(new NoInput());
    try {
      return runAll(new BufferedInputStream(lines));
    } finally {
      System.setIn(standardInput);
    }
  }

  private int runAll(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    int next;
    do {
      next = in.read();
      if (next >= 0 && next != '\n') {
        line.write(next);
      } else {
        run(ExactText.of(line.toByteArray()));
        line.reset();
      }
    } while (next >= 0 && !ended);
    return firstFailure;
  }

  /** Runs a line. */
  void run(String line) {
    int exitCode = exitCode(line);
    firstFailure = firstFailure == 0 ? exitCode : firstFailure;
    System.out.flush();
  }

  private int exitCode(String line) {
    if (line.isBlank() || line.stripLeading().startsWith("#")) {
      return 0;
    }
    List<String> words;
    try {
      words = new ArrayList<>(ShellWords.of(line));
    } catch (UserError e) {
      return wrong(e.getMessage());
    }
    switch (words.getFirst()) {
      case "exit", "quit" -> {
        ended = true;
        return 0;
      }
      case "help" -> {
        words.removeFirst();
        words.add("--help");
      }
      case "shell" -> {
        return wrong("this is a shell already");
      }
      // A server needs a separate process, and a shell does not have the whole class path.
      case "server", "classpath" -> {
        return notHere(words.getFirst());
      }
      default -> {
        // These commands need a JVM with other flags.
        if (ErdaCommand.isProvided(words.getFirst())) {
          return notHere(words.getFirst());
        }
        complete(words);
      }
    }
    return Main.run(out, err, false, words.toArray(String[]::new));
  }

  private int notHere(String command) {
    return wrong("not in a shell: ./erda " + command);
  }

  private int wrong(String message) {
    err.println("erda: " + message);
    return WRONG_USAGE;
  }

  /**
   * Adds the shell's store to a command that needs one and names none; makes values end with line
   * ends.
   */
  private void complete(List<String> words) {
    String name = words.getFirst();
    CommandLine command = ErdaCommand.commandLine(name).getSubcommands().get(name);
    if (command == null) {
      return;
    }
    CommandSpec spec = command.getCommandSpec();
    List<String> options =
        words.stream()
            .takeWhile(word -> !word.equals("--"))
            .filter(word -> word.startsWith("-"))
            .toList();
    boolean isNamed = options.stream().anyMatch(option -> option.startsWith(URI));
    if (uri != null && !isNamed && spec.findOption(URI) != null) {
      words.addAll(1, List.of(URI, uri));
    }
    boolean hasLines = options.stream().anyMatch(option -> NEWLINE.matcher(option).matches());
    if (!hasLines && spec.findOption("--newline") != null) {
      words.add(1, "--newline");
    }
  }
}
