package io.erda.launcher;

import java.io.PrintWriter;
import java.nio.charset.Charset;
import picocli.CommandLine;

/**
 * The {@code ./erda} command line.
 *
 * <p>Exit codes: 0 = done, 1 = it failed, 2 = the command line was wrong. What fails says so in one
 * line on standard error that begins with {@code erda: }; a stack trace is shown only with {@code
 * -v} or {@code ERDA_TRACE=1}.
 */
public final class Main {
  private Main() {}

  public static void main(String[] args) {
    PrintWriter out = writer(System.out);
    PrintWriter err = writer(System.err);
    int exitCode = run(out, err, "1".equals(System.getenv("ERDA_TRACE")), args);
    // Not a plain return: a thread that a failed command left behind must not keep the process.
    System.exit(exitCode);
  }

  /**
   * Runs one command line in this process and returns its exit code.
   *
   * @param trace whether a failure also prints its stack trace
   */
  static int run(PrintWriter out, PrintWriter err, boolean trace, String... args) {
    ErrorReport report = new ErrorReport(trace);
    CommandLine commandLine =
        ErdaCommand.commandLine(args)
            .setOut(out)
            .setErr(err)
            .setExecutionExceptionHandler(report)
            .setParameterExceptionHandler(report)
            .setCaseInsensitiveEnumValuesAllowed(true);
    try {
      return commandLine.execute(args);
    } catch (Throwable e) { // picocli hands us exceptions only; an Error comes through
      return report.failed(e, commandLine, ErrorReport.verbose(args));
    } finally {
      out.flush();
      err.flush();
    }
  }

  private static PrintWriter writer(java.io.PrintStream stream) {
    Charset charset = stream.charset();
    return new PrintWriter(stream, true, charset);
  }
}
