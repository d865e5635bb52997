package io.erda.launcher.commands;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.eval.Experiment;
import io.erda.eval.experiments.Experiments;
import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
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
    subcommands = {EvalCommand.ListCommand.class, EvalCommand.RunCommand.class})
public final class EvalCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "list or run?");
  }

  /** {@code erda eval list}. */
  @Command(name = "list", description = "Show the experiments.")
  static final class ListCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Override
    public Integer call() {
      PrintWriter out = spec.commandLine().getOut();
      for (Experiment experiment : Experiments.ALL) {
        out.printf("%-13s%s%n", experiment.name(), experiment.what());
      }
      return 0;
    }
  }

  /** {@code erda eval run}. */
  @Command(
      name = "run",
      description = "Run experiments. Exit code 1 when one fails or does not show what it must.",
      footer = {"", "  ./erda eval run floor", "  ./erda eval run all --json report.json"})
  static final class RunCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Parameters(
        arity = "1..*",
        paramLabel = "NAME",
        description = "Experiments (./erda eval list), or all.")
    private List<String> names;

    @Option(
        names = "--json",
        paramLabel = "FILE",
        description = "Write the results to a file, too.")
    private Path json;

    @Option(
        names = "--out",
        paramLabel = "DIR",
        description = "Write plots there, of the experiments that have some.")
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
            "How often each thing is measured, side by side, where the experiment asks (peers);"
                + " default: as it holds right.")
    private int rounds;

    @Option(
        names = "--directory",
        paramLabel = "DIR",
        defaultValue = "${sys:java.io.tmpdir}",
        description = "Where stores go while it runs (default: ${DEFAULT-VALUE}).")
    private Path directory;

    @Override
    public Integer call() throws IOException, InterruptedException {
      List<Experiment> chosen = chosen();
      PrintWriter text = spec.commandLine().getOut();
      ResultFile.requireWritable(json);
      requirePlots();
      ObjectNode results = new ObjectMapper().createObjectNode();
      List<String> missed = new ArrayList<>();
      for (Experiment experiment : chosen) {
        Experiment.Report report = run(experiment);
        text.println(experiment.name() + ": " + experiment.what());
        text.println();
        text.println(report.text());
        report.missed().forEach(what -> text.println("missed: " + what + System.lineSeparator()));
        text.flush();
        report.missed().forEach(what -> missed.add(experiment.name() + ": " + what));
        ObjectNode node = results.putObject(experiment.name());
        node.setAll(report.json());
        report.missed().forEach(node.putArray("missed")::add);
      }
      ResultFile.write(json, results);
      if (!missed.isEmpty()) {
        throw new UserError(String.join("; ", missed));
      }
      return 0;
    }

    /** The runtime of a distribution has no graphics. */
    private void requirePlots() {
      if (out != null && ModuleLayer.boot().findModule("java.desktop").isEmpty()) {
        throw new UserError(
            "--out: plots need a Java with the module java.desktop; name one in ERDA_JAVA_HOME");
      }
    }

    private Experiment.Report run(Experiment experiment) throws InterruptedException {
      try (Children children = new Children()) {
        Jvm jvm = LaunchSettings.load().jvm();
        TerminalProgress progress =
            new TerminalProgress(spec.commandLine().getErr(), StandardOutput.errorIsTerminal());
        return experiment.run(
            new Experiment.Context(children, jvm, directory, progress, rounds, quick, out));
      }
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
}
