package io.erda.launcher.commands;

import io.erda.server.StoreVerifier;
import io.erda.server.VerifyReport;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code erda verify}: looks at every byte of a store that nobody serves. */
@Command(
    name = "verify",
    description = "Check a store that nobody serves: every entry, every object, every checksum.",
    footer = {
      "",
      "Looks at the store as a starting server would find it after recovery, which takes place in"
          + " memory: nothing in DIR changes,",
      "and permission to read it is enough. Exit code 1 and a line for every damaged key when"
          + " something is wrong."
    })
public final class VerifyCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = "--data",
      required = true,
      paramLabel = "DIR",
      description = "The store's directory.")
  private Path data;

  @Override
  public Integer call() {
    VerifyReport report = StoreVerifier.verify(data);
    PrintWriter out = spec.commandLine().getOut();
    report.notes().forEach(note -> out.println("recovery: " + note));
    for (VerifyReport.Finding finding : report.findings()) {
      out.println(
          "damaged: "
              + (finding.key() == null ? "" : "key " + ExactText.quoted(finding.key()) + ": ")
              + finding.what());
    }
    out.printf(
        "%,d entries: %,d values, %,d deleted keys, %,d findings%n",
        report.entries(), report.values(), report.tombstones(), report.findings().size());
    if (!report.findings().isEmpty()) {
      throw new UserError(
          report.findings().size()
              + (report.findings().size() == 1 ? " finding" : " findings")
              + " in "
              + data);
    }
    return 0;
  }
}
