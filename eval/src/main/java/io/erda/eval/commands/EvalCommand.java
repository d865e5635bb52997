package io.erda.eval.commands;

import io.erda.console.OneLine;
import io.erda.console.UserError;
import io.erda.eval.Experiment;
import io.erda.eval.experiments.Experiments;
import io.erda.eval.report.ReportDirectory;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code erda eval}: the experiments. */
@Command(
    name = "eval",
    description =
        "Run the experiments: what is measured, beside what it is measured against, in one run.",
    subcommands = {
      EvalCommand.ListCommand.class,
      EvalCommand.RunCommand.class,
      EvalCommand.AllCommand.class,
      EvalCommand.PageCommand.class
    })
public final class EvalCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "list, run, all or page?");
  }

  /** {@code erda eval list}. */
  @Command(name = "list", description = "Show the experiments.")
  static final class ListCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Override
    public Integer call() {
      PrintWriter out = spec.commandLine().getOut();
      int width = Experiments.ALL.stream().mapToInt(each -> each.name().length()).max().orElse(0);
      for (Experiment experiment : Experiments.ALL) {
        out.printf("%-" + width + "s  %s%n", experiment.name(), experiment.what());
      }
      return 0;
    }
  }

  /** {@code erda eval run}. */
  @Command(
      name = "run",
      description =
          "Run experiments. Exit code 1 when one fails or does not show what it must; "
              + RunCommand.NOT_JUDGED
              + " when nothing was missed, and goals were not judged: a quick run is too short for"
              + " some, and what can't be measured here is not.",
      footer = {"", "  ./erda eval run floor", "  ./erda eval run floor redis --json report.json"})
  static final class RunCommand implements Callable<Integer> {
    private static final int NOT_JUDGED = 4;

    @Spec private CommandSpec spec;

    @Parameters(
        arity = "1..*",
        paramLabel = "NAME",
        description = "Experiments (./erda eval list), or all.")
    private List<String> names;

    @Mixin private Measuring measuring;

    @Override
    public Integer call() throws IOException, InterruptedException {
      Measuring.Outcome outcome = measuring.run(chosen(), spec.commandLine());
      if (!outcome.missed().isEmpty()) {
        throw new UserError(String.join("; ", outcome.missed()));
      }
      return outcome.unjudged().isEmpty() ? 0 : NOT_JUDGED;
    }

    private List<Experiment> chosen() {
      if (names.equals(List.of("all"))) {
        return Experiments.ALL;
      }
      List<Experiment> chosen = new ArrayList<>();
      for (String name : names) {
        chosen.add(
            Experiments.ALL.stream()
                .filter(experiment -> experiment.name().equals(name))
                .findFirst()
                .orElseThrow(() ->
                    new UserError("no experiment '" + name + "'; there are " + allNames(), 2)));
      }
      return chosen;
    }

    private static String allNames() {
      return Experiments.ALL.stream().map(Experiment::name).collect(Collectors.joining(", "));
    }
  }

  /** {@code erda eval all}. */
  @Command(
      name = "all",
      description = {
        "Run all experiments and write a report: one HTML page with all tables and plots.",
        "It takes some five hours, two of them for endurance and one for peers, and up to 40 GB of"
            + " disk for stores; ten minutes with --quick."
      },
      footer = {"", "  ./erda eval all --out report --quick"})
  static final class AllCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Mixin private Measuring measuring;

    /**
     * Missed goals are shown on the page; only an experiment that can't be measured is a failure.
     */
    @Override
    public Integer call() throws IOException, InterruptedException {
      if (!measuring.writesPage()) {
        throw new ParameterException(
            spec.commandLine(), "--out DIR is missing: where does the report go?");
      }
      measuring.run(Experiments.ALL, spec.commandLine());
      return 0;
    }
  }

  /** {@code erda eval page}. */
  @Command(
      name = "page",
      description =
          "Make the page (index.html) of what earlier runs left in a directory anew, without"
              + " measuring: after a change of how it looks.",
      footer = {"", "  ./erda eval page --out docs/results"})
  static final class PageCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Option(
        names = "--out",
        paramLabel = "DIR",
        required = true,
        description = "Where earlier runs left page.json.")
    private Path out;

    @Override
    public Integer call() throws IOException {
      ReportDirectory page = ReportDirectory.again(out, Measuring.INTRODUCTION);
      spec.commandLine().getOut().println("report: " + OneLine.of(page.page().toString()));
      return 0;
    }
  }
}
