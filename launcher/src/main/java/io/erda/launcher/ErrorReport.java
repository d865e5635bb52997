package io.erda.launcher;

import io.erda.console.OneLine;
import io.erda.console.UserError;
import io.erda.launcher.commands.ProgramName;
import io.erda.pmem.FileErrors;
import io.erda.protocol.ErdaException;
import io.erda.protocol.JvmErrors;
import io.erda.protocol.Result;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Turns every failure into one line on standard error and an exit code. */
final class ErrorReport implements IExecutionExceptionHandler, IParameterExceptionHandler {
  static final int FAILED = 1;
  private static final int WRONG_USAGE = 2;

  private static final Pattern LINE_END = Pattern.compile("\\s*\\R\\s*");

  /** The text of the JDK, and of libraries, when a process may open no more files. */
  private static final String LINUX_TOO_MANY_FILES = "Too many open files";

  private static final String TOO_MANY_FILES =
      "too many open files: a process may have more with ulimit -n 4096 (a service:"
          + " LimitNOFILE=4096)";

  private static final String SERVERS_FILES =
      "; the server may have more with prlimit --nofile=4096 --pid PID (a service:"
          + " LimitNOFILE=4096)";

  private final boolean trace;

  /**
   * @param trace whether every failure also prints its stack trace
   */
  ErrorReport(boolean trace) {
    this.trace = trace;
  }

  @Override
  public int handleExecutionException(
      Exception failure, CommandLine commandLine, ParseResult parsed) {
    return failed(
        failure, commandLine.getErr(), verbose(parsed.originalArgs().toArray(String[]::new)));
  }

  @Override
  public int handleParseException(ParameterException failure, String[] args) {
    CommandLine commandLine = failure.getCommandLine();
    PrintWriter err = commandLine.getErr();
    String name = commandLine.getCommandSpec().qualifiedName();
    err.println("erda: " + oneLine(usage(failure)) + " (see " + name + " --help)");
    if (trace || verbose(args)) {
      failure.printStackTrace(err);
    }
    return WRONG_USAGE;
  }

  private static String usage(ParameterException failure) {
    CommandLine commandLine = failure.getCommandLine();
    List<String> unknown = commandLine.getUnmatchedArguments();
    // An unknown option may be the missing option with a wrong spelling.
    if (failure instanceof MissingParameterException && !unknown.isEmpty()) {
      return usage(new UnmatchedArgumentException(commandLine, unknown));
    }
    if (failure instanceof UnmatchedArgumentException unmatched) {
      String first = unmatched.getUnmatched().getFirst();
      if (unmatched.isUnknownOption()) {
        return "unknown option '" + first + "'; behind -- an argument may begin with -";
      }
      if (commandLine.getParent() == null) {
        List<String> similar = unmatched.getSuggestions();
        return "no such command: '"
            + first
            + "'"
            + (similar.isEmpty() ? "" : "; did you mean " + similar.getFirst() + "?")
            + (ErdaCommand.hasLaboratory()
                ? ""
                : "; the commands that measure and test Erda are not installed here");
      }
    }
    return failure.getMessage();
  }

  /** Reports an exception of a command. */
  int failed(Throwable failure, PrintWriter err, boolean verbose) {
    Throwable cause = unwrapped(failure);
    String explained = isOurs(cause) || isHeapFull(cause) ? null : JvmErrors.explain(cause);
    String message =
        lacksFiles(failure)
            ? saidByServer(cause) ? oneLine(cause.getMessage()) + SERVERS_FILES : TOO_MANY_FILES
            : oneLine(explained == null ? message(failure, cause) : explained);
    err.println("erda: " + ProgramName.in(message));
    if (trace || verbose) {
      failure.printStackTrace(err);
    }
    return switch (cause) {
      case UserError error -> error.exitCode();
      case ErdaException.BadArgument bad -> WRONG_USAGE;
      case Throwable other -> FAILED;
    };
  }

  /** Whether the arguments ask for stack traces, even when they could not be parsed. */
  static boolean verbose(String... args) {
    return Arrays.stream(args)
        .takeWhile(arg -> !arg.equals("--"))
        .anyMatch(arg -> arg.equals("-v") || arg.equals("--verbose"));
  }

  private static Throwable unwrapped(Throwable failure) {
    Throwable cause = failure;
    while (cause.getCause() != null
        && (cause instanceof UncheckedIOException
            || cause instanceof DirectoryIteratorException
            || cause instanceof ExecutionException
            || cause instanceof CompletionException)) {
      cause = cause.getCause();
    }
    return cause;
  }

  private static String message(Throwable failure, Throwable cause) {
    return failure instanceof UncheckedIOException e
            && e.getCause() == cause
            && !cause.toString().equals(e.getMessage())
        ? FileErrors.inWords(e)
        : message(cause);
  }

  /**
   * The message of an error. Erda's exceptions carry messages for users. For others the type is
   * added, and if they are not about a file they are a defect of Erda, and the line says how to see
   * more.
   */
  private static String message(Throwable cause) {
    return switch (cause) {
      case NoSuchFileException e -> "no such file or directory: " + e.getFile();
      case AccessDeniedException e -> "permission denied: " + e.getFile();
      case FileAlreadyExistsException e -> "exists already: " + e.getFile();
      case NotDirectoryException e -> "not a directory: " + e.getFile();
      case FileSystemException e -> e.getMessage();
      case InterruptedException e -> "interrupted";
      case OutOfMemoryError e -> outOfMemory(e);
      case Throwable e when isOurs(e) && e.getMessage() != null -> e.getMessage();
      case IOException e when e.getMessage() != null -> e.getMessage();
      case Throwable e -> "internal error: " + e + " (ERDA_TRACE=1 shows where it happened)";
    };
  }

  /**
   * Whether it failed because this process may open no more files. When the JVM can't load a class
   * for that reason, its error does not say so; but then opening any file fails now, too.
   */
  private static boolean lacksFiles(Throwable failure) {
    for (Throwable each = failure; each != null; each = each.getCause()) {
      if (saysTooManyFiles(each)) {
        return true;
      }
    }
    if (!(unwrapped(failure) instanceof LinkageError)) {
      return false;
    }
    try (InputStream _ = new FileInputStream("/dev/null")) {
      return false;
    } catch (IOException e) {
      return saysTooManyFiles(e);
    }
  }

  private static boolean saysTooManyFiles(Throwable failure) {
    return failure.getMessage() != null && failure.getMessage().contains(LINUX_TOO_MANY_FILES);
  }

  /** Whether the server's process may open no more files, as its answer says. */
  private static boolean saidByServer(Throwable cause) {
    return cause instanceof ErdaException.Unavailable
        && cause.getMessage().contains(": " + Result.name(Result.NOT_NOW) + ": ");
  }

  /** Whether an OutOfMemoryError is about the heap; it may be about threads, too. */
  private static boolean isHeapFull(Throwable cause) {
    return cause instanceof OutOfMemoryError
        && (cause.getMessage() == null || !cause.getMessage().contains("native thread"));
  }

  private static String outOfMemory(OutOfMemoryError e) {
    return "out of memory: "
        + (e.getMessage() == null ? "the JVM has no room" : e.getMessage())
        + "; its heap has %,d bytes at most, and ERDA_JAVA_OPTS=-Xmx… gives it another size"
            .formatted(Runtime.getRuntime().maxMemory());
  }

  private static boolean isOurs(Throwable e) {
    return e.getClass().getName().startsWith("io.erda.");
  }

  /**
   * Makes a message one line without control characters: it may contain text from a user, a file or
   * a peer, which a terminal must not interpret.
   */
  private static String oneLine(String message) {
    return OneLine.of(LINE_END.matcher(message.strip()).replaceAll("; "));
  }
}
