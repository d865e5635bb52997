package io.erda.launcher.commands;

import io.erda.console.OneLine;
import io.erda.console.StandardOutput;
import io.erda.console.TerminalProgress;
import io.erda.console.UserError;
import io.erda.server.StoreVerifier;
import io.erda.server.VerifyReport;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code erda verify}: checks every byte of a store that no server has open. */
@Command(
    name = "verify",
    description = "Check a store that nobody serves: every entry, every object, every checksum.",
    footer = {
      "",
      "Looks at the store as a starting server would find it after recovery, which takes place in"
          + " memory: nothing in DIR changes,",
      "and permission to read it is enough. Exit code 1 and a line for every damaged key when"
          + " something is wrong. A store that was",
      "stopped cleanly is compared with what the server left. In one that was killed nothing tells"
          + " an entry that was lost from a",
      "key that was deleted or never stored: what lies in the log and could be such a key is called"
          + " doubtful, which is no reason",
      "for exit code 1."
    })
public final class VerifyCommand implements Callable<Integer> {
  private static final int DOUBTS_PRINTED = 20;

  @Spec private CommandSpec spec;

  @Option(
      names = "--data",
      required = true,
      paramLabel = "DIR",
      description = "The store's directory.")
  private Path data;

  @Option(names = "--all", description = "Name every doubtful key, not the first ones alone.")
  private boolean all;

  @Override
  public Integer call() {
    VerifyReport report = verify();
    PrintWriter out = spec.commandLine().getOut();
    report.notes().forEach(note -> out.println(OneLine.of("recovery: " + note)));
    report.findings().forEach(finding -> out.println(OneLine.of("damaged: " + text(finding))));
    printDoubts(report, out);
    out.printf(
        "%,d entries: %,d values, %,d deleted keys, %,d never committed, %,d damaged;"
            + " %,d findings, %,d doubts%n",
        report.entries(),
        report.values(),
        report.tombstones(),
        report.undecided(),
        report.damaged(),
        report.findingsCount(),
        report.doubtsCount());
    out.println(
        report.proven()
            ? "The store was stopped cleanly, and its table is what it was then."
            : "Nothing proves the table: the store was not stopped cleanly, or is not what it was"
                + " then. A key whose entry was lost,\nor fell back to an older version, can't be"
                + " told from one that was deleted or stored side by side with another:\nsuch keys"
                + " are called doubtful.");
    if (report.findingsCount() > 0) {
      throw new UserError(
          report.findingsCount()
              + (report.findingsCount() == 1 ? " finding" : " findings")
              + " in "
              + data);
    }
    return 0;
  }

  private void printDoubts(VerifyReport report, PrintWriter out) {
    int printed = Math.min(report.doubts().size(), all ? Integer.MAX_VALUE : DOUBTS_PRINTED);
    report
        .doubts()
        .subList(0, printed)
        .forEach(doubt -> out.println(OneLine.of("doubtful: " + text(doubt))));
    if (printed < report.doubtsCount()) {
      out.printf(
          "doubtful: %,d more%s%n",
          report.doubtsCount() - printed, all ? "" : "; --all names them");
    }
  }

  private VerifyReport verify() {
    if (!StandardOutput.errorIsTerminal()) {
      return StoreVerifier.verify(data, (what, done, allOfIt) -> {}, LibraryHash::new);
    }
    TerminalProgress progress = new TerminalProgress(spec.commandLine().getErr(), true);
    String[] step = {""};
    VerifyReport report =
        StoreVerifier.verify(
            data,
            (what, done, allOfIt) -> {
              if (!step[0].equals(what)) {
                progress.step(what);
                step[0] = what;
              }
              progress.at("%,d of %,d".formatted(done, allOfIt));
            },
            LibraryHash::new);
    progress.done("all looked at");
    return report;
  }

  private static String text(VerifyReport.Finding finding) {
    return (finding.key() == null ? "" : "key " + ExactText.quoted(finding.key()) + ": ")
        + finding.what();
  }
}
