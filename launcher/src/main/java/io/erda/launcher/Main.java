package io.erda.launcher;

import io.erda.launcher.commands.FilePath;
import io.erda.launcher.commands.PlainCommand;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;

/**
 * The {@code ./erda} command line.
 *
 * <p>Exit codes: 0 = done, 1 = it failed, 2 = the command line was wrong, 3 = the key has no value,
 * 4 = {@code eval run} missed no goal, but did not judge all, 141 = the reader of the output has
 * left. A failure is reported in one line on standard error that begins with {@code erda: }; a
 * stack trace is shown only with {@code -v} or {@code ERDA_TRACE=1}.
 */
public final class Main {
  private static final int OUTPUT_BUFFER_BYTES = 8192;

  /** The exit code that a shell gives a process that SIGPIPE ended. */
  private static final int READER_LEFT = 141;

  private Main() {}

  public static void main(String[] args) {
    // Programs read figures, logs and HTTP headers, and expect ASCII digits. This is not only for
    // the
    // category FORMAT, because PrintWriter.printf formats for the default of all categories.
    Locale.setDefault(Locale.ROOT);
    CheckedOutput output = new CheckedOutput(new FileOutputStream(FileDescriptor.out));
    System.setOut(
        new PrintStream(
            new BufferedOutputStream(output, OUTPUT_BUFFER_BYTES), true, System.out.charset()));
    PrintWriter out = writer(System.out);
    PrintWriter err = writer(System.err);
    int exitCode = run(out, err, "1".equals(System.getenv("ERDA_TRACE")), true, args);
    System.out.flush();
    // Not a return, because a thread left behind by a failed command would keep the process alive.
    System.exit(outcome(exitCode, output, err));
  }

  /** The exit code: output that could not be written is a failure, whatever the command returns. */
  private static int outcome(int exitCode, CheckedOutput output, PrintWriter err) {
    if (output.failure() == null || exitCode != 0) {
      return exitCode;
    }
    if (output.readerLeft()) {
      return READER_LEFT;
    }
    err.println("erda: can't write to standard output: " + output.failure().getMessage());
    return ErrorReport.FAILED;
  }

  /**
   * Runs one command line in this process and returns its exit code.
   *
   * @param trace whether a failure also prints its stack trace
   */
  static int run(PrintWriter out, PrintWriter err, boolean trace, String... args) {
    return run(out, err, trace, false, args);
  }

  /**
   * @param ofProcess whether {@code args} are this process's own, whose bytes the kernel knows
   */
  private static int run(
      PrintWriter out, PrintWriter err, boolean trace, boolean ofProcess, String... args) {
    ErrorReport report = new ErrorReport(trace);
    try {
      String[] exact = ofProcess ? ExactArguments.of(args) : args;
      Callable<Integer> plain = PlainCommand.of(exact);
      if (plain != null) {
        return plain.call();
      }
      CommandLine commandLine = commandLine(out, err, report, args);
      return commandLine.execute(isNoCommand(commandLine, exact) ? firstOf(exact) : exact);
    } catch (Throwable e) { // picocli passes only exceptions; an Error gets here
      return report.failed(e, err, ErrorReport.verbose(args));
    } finally {
      out.flush();
      err.flush();
    }
  }

  /** Whether the first argument names a command that is not there, whose help is not either. */
  private static boolean isNoCommand(CommandLine commandLine, String... args) {
    return args.length > 0
        && !args[0].startsWith("-")
        && !commandLine.getSubcommands().containsKey(args[0]);
  }

  private static String[] firstOf(String... args) {
    return new String[] {args[0]};
  }

  private static CommandLine commandLine(
      PrintWriter out, PrintWriter err, ErrorReport report, String... args) {
    return ErdaCommand.commandLine(args)
        .setOut(out)
        .setErr(err)
        .setExecutionExceptionHandler(report)
        .setParameterExceptionHandler(report)
        .setCaseInsensitiveEnumValuesAllowed(true)
        // A key may begin with @, which picocli would take for the name of a file of arguments.
        .setExpandAtFiles(false)
        .registerConverter(Path.class, new FilePath());
  }

  private static PrintWriter writer(PrintStream stream) {
    Charset charset = stream.charset();
    return new PrintWriter(stream, true, charset);
  }
}
