package io.erda.eval.commands;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.console.OneLine;
import io.erda.console.ResultFile;
import io.erda.console.StandardOutput;
import io.erda.console.TerminalProgress;
import io.erda.console.UserError;
import io.erda.eval.Experiment;
import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import io.erda.eval.report.Machine;
import io.erda.eval.report.Page;
import io.erda.eval.report.Report;
import io.erda.eval.report.ReportDirectory;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** Runs experiments and outputs their reports: the options, and the run itself. */
final class Measuring {
  /** The introduction of a page. */
  static final String INTRODUCTION =
      "Each experiment measures Erda beside what it is compared with, in one run on one machine,"
          + " with the options that a user gets without asking. The ratios are what counts.";

  @Option(names = "--json", paramLabel = "FILE", description = "Write the results to a file, too.")
  private Path json;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description =
          "Write a page there (index.html), with its tables as CSV, its plots as SVG and all"
              + " results as JSON beside it. What other experiments left there stays.")
  private Path out;

  @Option(
      names = "--quick",
      description = "Fewer objects and rounds: to see that it runs, not to believe the numbers.")
  private boolean quick;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "How often each thing is measured, side by side, where the experiment asks (those"
              + " that compare systems do); default: as it holds right.")
  private int rounds;

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      defaultValue = "${sys:java.io.tmpdir}",
      description = "Where stores go while it runs (default: ${DEFAULT-VALUE}).")
  private Path directory;

  /**
   * The goals that were not met, one line each.
   *
   * @param missed goals that were missed
   * @param unjudged goals that the runs can't judge
   */
  record Outcome(List<String> missed, List<String> unjudged) {}

  boolean writesPage() {
    return out != null;
  }

  /** Runs experiments and reports the results. */
  Outcome run(List<Experiment> experiments, CommandLine commandLine)
      throws IOException, InterruptedException {
    PrintWriter text = commandLine.getOut();
    ResultFile.requireWritable(json);
    ReportDirectory page = out == null ? null : newPage();
    ObjectNode results = new ObjectMapper().createObjectNode();
    Outcome outcome = new Outcome(new ArrayList<>(), new ArrayList<>());
    for (Experiment experiment : experiments) {
      Report report = run(experiment, commandLine.getErr());
      text.println(experiment.name() + ": " + experiment.what());
      text.println();
      text.println(report.text());
      report.missed().forEach(what -> text.println("missed: " + what + System.lineSeparator()));
      report
          .unjudged()
          .forEach(what -> text.println("not judged: " + what + System.lineSeparator()));
      text.flush();
      report.missed().forEach(what -> outcome.missed.add(experiment.name() + ": " + what));
      report.unjudged().forEach(what -> outcome.unjudged.add(experiment.name() + ": " + what));
      ObjectNode node = results.putObject(experiment.name());
      node.setAll(report.json());
      report.missed().forEach(node.putArray("missed")::add);
      report.unjudged().forEach(node.putArray("unjudged")::add);
      if (page != null) {
        page.add(
            new Page.Section(
                experiment.name(),
                experiment.what(),
                "./erda eval run " + experiment.name() + (quick ? " --quick" : ""),
                quick,
                report));
      }
    }
    ResultFile.write(json, results);
    if (page != null) {
      text.println("report: " + OneLine.of(page.page().toString()));
    }
    return outcome;
  }

  /** Before all the work, so that a page that can't be written is reported at once. */
  private ReportDirectory newPage() throws IOException {
    if (Files.exists(out) && !Files.isDirectory(out)) {
      throw new UserError("--out is no directory: " + out, 2);
    }
    return new ReportDirectory(out, INTRODUCTION, Machine.describe(directory));
  }

  private Report run(Experiment experiment, PrintWriter err) throws InterruptedException {
    long beganNs = System.nanoTime();
    try (Children children = new Children()) {
      Jvm jvm = Jvm.current();
      TerminalProgress progress = new TerminalProgress(err, StandardOutput.errorIsTerminal());
      return experiment.run(
          new Experiment.Context(children, jvm, directory, progress, rounds, quick));
    } finally {
      long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - beganNs);
      err.printf("%s took %d:%02d%n", experiment.name(), seconds / 60, seconds % 60);
    }
  }
}
