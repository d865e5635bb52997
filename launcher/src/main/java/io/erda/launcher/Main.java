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
import java.util.concurrent.Callable;
import picocli.CommandLine;

/**
 * The {@code ./erda} command line.
 *
 * <p>Exit codes: 0 = done, 1 = it failed, 2 = the command line was wrong, 3 = the key has no value,
 * 4 = {@code eval run} missed nothing, and did not judge all goals, 141 = whoever read the output
 * has left. What fails says so in one line on standard error that begins with {@code erda: }; a
 * stack trace is shown only with {@code -v} or {@code ERDA_TRACE=1}.
 */
public final class Main {
  private static final int OUTPUT_BUFFER_BYTES = 8192;

  /** What a shell makes of a process that SIGPIPE ended. */
  private static final int READER_LEFT = 141;

  private Main() {}

  public static void main(String[] args) {
    CheckedOutput output = new CheckedOutput(new FileOutputStream(FileDescriptor.out));
    System.setOut(
        new PrintStream(
            new BufferedOutputStream(output, OUTPUT_BUFFER_BYTES), true, System.out.charset()));
    PrintWriter out = writer(System.out);
    PrintWriter err = writer(System.err);
    int exitCode = run(out, err, "1".equals(System.getenv("ERDA_TRACE")), true, args);
    System.out.flush();
    // Not a plain return: a thread that a failed command left behind must not keep the process.
    System.exit(outcome(exitCode, output, err));
  }

  /** A result that did not get through is a failure, whatever the command says. */
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
   * @param ofProcess whether {@code args} are this process's own, of which the kernel knows the
   *     bytes
   */
  private static int run(
      PrintWriter out, PrintWriter err, boolean trace, boolean ofProcess, String... args) {
    ErrorReport report = new ErrorReport(trace);
    try {
      String[] exact = ofProcess ? ExactArguments.of(args) : args;
      Callable<Integer> plain = PlainCommand.of(exact);
      return plain != null ? plain.call() : commandLine(out, err, report, args).execute(exact);
    } catch (Throwable e) { // picocli hands us exceptions only; an Error comes through
      return report.failed(e, err, ErrorReport.verbose(args));
    } finally {
      out.flush();
      err.flush();
    }
  }

  private static CommandLine commandLine(
      PrintWriter out, PrintWriter err, ErrorReport report, String... args) {
    return ErdaCommand.commandLine(args)
        .setOut(out)
        .setErr(err)
        .setExecutionExceptionHandler(report)
        .setParameterExceptionHandler(report)
        .setCaseInsensitiveEnumValuesAllowed(true)
        // A key may begin with @; picocli would take it for the name of a file of arguments.
        .setExpandAtFiles(false)
        .registerConverter(Path.class, new FilePath());
  }

  private static PrintWriter writer(PrintStream stream) {
    Charset charset = stream.charset();
    return new PrintWriter(stream, true, charset);
  }
}
