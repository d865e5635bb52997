package io.erda.eval.experiments.keeping;

import io.erda.eval.Experiment.Context;
import io.erda.eval.process.Child;
import io.erda.eval.process.ProcessException;
import io.erda.server.StoreVerifier;
import io.erda.server.VerifyReport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/** Runs commands of an operator, each in its own process. */
final class Commands {
  private static final Duration END_MAX = Duration.ofMinutes(10);

  private final Context context;

  Commands(Context context) {
    this.context = context;
  }

  /** Starts {@code ./erda backup}; {@link #await} waits for its end. */
  Child backup(String uri, Path directory) {
    return erda("backup", "--uri", uri, directory.toString());
  }

  /** Restores a backup into an empty store. */
  void restore(String uri, Path directory) {
    await(erda("restore", "--uri", uri, directory.toString()));
  }

  private Child erda(String... line) {
    return context.children().start("./erda " + line[0], context.jvm().erda(line));
  }

  /**
   * Waits until a command is over.
   *
   * @throws ProcessException when it failed, with its output
   */
  void await(Child command) {
    int exitCode = command.awaitEnd(END_MAX);
    context.children().forget(command);
    if (exitCode != 0) {
      throw new ProcessException(
          "a command ended with exit code " + exitCode + command.errorTail());
    }
  }

  /**
   * Verifies a store that no process has open.
   *
   * @throws ProcessException when something is wrong
   */
  static void verify(Path data) {
    List<VerifyReport.Finding> findings = StoreVerifier.verify(data).findings();
    if (!findings.isEmpty()) {
      throw new ProcessException(
          data
              + " does not verify: "
              + findings.stream()
                  .map(VerifyReport.Finding::what)
                  .collect(Collectors.joining("; ")));
    }
  }
}
