package io.erda.launcher;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jline.reader.Candidate;
import org.jline.reader.Completer;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.ParsedLine;
import org.jline.reader.UserInterruptException;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import picocli.AutoComplete;

/** A {@link Shell} whose lines a user types: with a history, and completion of words. */
final class Terminals {
  private static final String PROMPT = "erda> ";

  /** The exit code that a shell gives a process that SIGINT ended. */
  private static final int INTERRUPTED = 130;

  /** Runs the lines typed on this process's terminal, until the user ends it. Returns 0. */
  static int interact(Shell shell) throws IOException {
    try (Terminal terminal = TerminalBuilder.builder().system(true).build()) {
      return interact(shell, terminal, history());
    }
  }

  /**
   * @param history the file of the history; null: there is none
   */
  static int interact(Shell shell, Terminal terminal, Path history) {
    LineReader reader =
        LineReaderBuilder.builder()
            .terminal(terminal)
            .appName("erda")
            .completer(completer())
            // An exclamation mark has no special meaning.
            .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true)
            .build();
    if (history != null) {
      reader.setVariable(LineReader.HISTORY_FILE, history);
    }
    Interrupts interrupts = new Interrupts(Thread.currentThread());
    terminal.handle(Terminal.Signal.INT, interrupts);
    while (!shell.ended()) {
      try {
        shell.run(reader.readLine(PROMPT));
        interrupts.forget();
      } catch (UserInterruptException e) {
        // Ctrl-C drops the line.
      } catch (EndOfFileException e) {
        return 0;
      }
    }
    return 0;
  }

  /**
   * Ctrl-C within a command interrupts it, which ends a command that waits. A second one ends the
   * process, as outside of a shell.
   */
  private static final class Interrupts implements Terminal.SignalHandler {
    private final Thread commands;
    private final AtomicInteger ofCommand = new AtomicInteger();

    Interrupts(Thread commands) {
      this.commands = commands;
    }

    /** Notes that the command is over. For the thread that runs commands. */
    void forget() {
      ofCommand.set(0);
      Thread.interrupted();
    }

    @Override
    public void handle(Terminal.Signal signal) {
      if (ofCommand.incrementAndGet() == 1) {
        commands.interrupt();
      } else {
        System.exit(INTERRUPTED);
      }
    }
  }

  private static Completer completer() {
    String[] none = {};
    var spec = ErdaCommand.commandLine(none).getCommandSpec();
    List.copyOf(spec.subcommands().keySet()).stream()
        .filter(command -> !Shell.isOfShells(command))
        .forEach(spec::removeSubcommand);
    return (LineReader reader, ParsedLine line, List<Candidate> candidates) -> {
      List<CharSequence> found = new ArrayList<>();
      AutoComplete.complete(
          spec,
          line.words().toArray(String[]::new),
          line.wordIndex(),
          line.wordCursor(),
          line.cursor(),
          found);
      String begun = line.word().substring(0, line.wordCursor());
      found.forEach(rest -> candidates.add(new Candidate(begun + rest)));
    };
  }

  /** The history file, which only the user may read; null when there can be none. */
  private static Path history() {
    String state = System.getenv("XDG_STATE_HOME");
    Path directory =
        state == null || state.isEmpty()
            ? Path.of(System.getProperty("user.home"), ".local", "state", "erda")
            : Path.of(state, "erda");
    Path file = directory.resolve("history");
    try {
      Files.createDirectories(directory);
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    } catch (FileAlreadyExistsException e) {
      return file;
    } catch (IOException e) {
      return null;
    }
    return file;
  }

  private Terminals() {}
}
