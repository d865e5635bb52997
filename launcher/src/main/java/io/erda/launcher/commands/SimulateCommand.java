package io.erda.launcher.commands;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.eval.Table;
import io.erda.simulation.system.Fault;
import io.erda.simulation.system.RunResult;
import io.erda.simulation.system.SystemSimulation;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.LongFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code erda simulate}: seeds, one after the other, until the first that fails. */
@Command(
    name = "simulate",
    description =
        "Run server and clients in simulated time on simulated memory and network, with faults, and"
            + " check every history.",
    footer = {
      "",
      "Each run has a seed that decides everything; the next run has the next seed. The first"
          + " violation ends it: exit code 1, a report,",
      "and the command that runs the same again."
    })
public final class SimulateCommand implements Callable<Integer> {
  private static final int SECONDS_DEFAULT = 30;
  private static final long PROGRESS_GAP_NS = 250_000_000L;

  private final LongFunction<RunResult> simulation;

  @Spec private CommandSpec spec;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description = "Begin no run after this long; 30 by default, without --runs.")
  private Integer seconds;

  @Option(names = "--runs", paramLabel = "N", description = "How many runs, at most.")
  private Integer runs;

  @Option(names = "--seed", paramLabel = "S", description = "Of the first run; random by default.")
  private Long seed;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the result to a file, too.")
  private Path json;

  /** The production code. */
  public SimulateCommand() {
    this(seed -> SystemSimulation.of(seed).run());
  }

  /**
   * @param simulation what a seed comes to
   */
  SimulateCommand(LongFunction<RunResult> simulation) {
    this.simulation = simulation;
  }

  @Override
  public Integer call() throws IOException {
    if ((seconds != null && seconds < 1) || (runs != null && runs < 1)) {
      throw new UserError("--seconds and --runs must be at least 1", 2);
    }
    Sum sum = new Sum(seed != null ? seed : new SecureRandom().nextLong() >>> 1);
    simulate(sum);
    PrintWriter out = spec.commandLine().getOut();
    out.print(sum.table());
    if (json != null) {
      ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
      Files.writeString(json, mapper.writeValueAsString(sum.json()) + "\n");
    }
    if (sum.failed != null) {
      out.println("\n" + sum.failed.report());
      out.flush();
      throw new UserError(
          "violation; again with: ./erda simulate --runs 1 --seed " + sum.failed.seed());
    }
    return 0;
  }

  private void simulate(Sum sum) {
    TerminalProgress progress =
        new TerminalProgress(spec.commandLine().getErr(), StandardOutput.errorIsTerminal());
    progress.step("simulate from seed " + sum.firstSeed);
    long runsMax = runs != null ? runs : Long.MAX_VALUE;
    long limitNs =
        seconds != null
            ? seconds * 1_000_000_000L
            : runs != null ? Long.MAX_VALUE : SECONDS_DEFAULT * 1_000_000_000L;
    long beganNs = System.nanoTime();
    long shownNs = beganNs;
    while (sum.failed == null && sum.runs < runsMax && sum.realNs < limitNs) {
      sum.add(simulation.apply(sum.firstSeed + sum.runs));
      long nowNs = System.nanoTime();
      sum.realNs = nowNs - beganNs;
      if (nowNs - shownNs >= PROGRESS_GAP_NS) {
        shownNs = nowNs;
        progress.at(sum.line());
      }
    }
    progress.done(sum.line());
  }

  /** Of the runs so far. */
  private static final class Sum {
    final long firstSeed;
    private final Map<Fault, Long> faults = new EnumMap<>(Fault.class);
    long runs;
    long realNs;
    private long operations;
    private long ok;
    private long unknown;
    private long simulatedNs;
    private long wordsLost;
    private long doublings;

    /** The run that failed, or null. */
    RunResult failed;

    Sum(long firstSeed) {
      this.firstSeed = firstSeed;
    }

    void add(RunResult result) {
      runs++;
      operations += result.operations();
      ok += result.ok();
      unknown += result.unknown();
      simulatedNs += result.simulatedNs();
      wordsLost += result.stores().wordsLost();
      doublings += result.doublings();
      result.faults().forEach((fault, count) -> faults.merge(fault, count, Long::sum));
      if (result.failure() != null) {
        failed = result;
      }
    }

    private long count(Fault fault) {
      return faults.getOrDefault(fault, 0L);
    }

    private long crashes() {
      return count(Fault.SERVER_CRASH)
          + count(Fault.SERVER_CRASH_IN_STORE)
          + count(Fault.SERVER_CRASH_IN_RECOVERY)
          + count(Fault.CLIENT_CRASH);
    }

    /** Simulated seconds that one real second takes. */
    private double speed() {
      return realNs == 0 ? 0 : (double) simulatedNs / realNs;
    }

    String line() {
      return "%s runs, %s operations, %s crashes, %s simulated seconds per second"
          .formatted(
              Table.count(runs),
              Table.count(operations),
              Table.count(crashes()),
              Table.decimal(speed()));
    }

    Table table() {
      Table table =
          new Table("simulate", "")
              .row("first seed", firstSeed)
              .row("runs", Table.count(runs))
              .row("operations", Table.count(operations))
              .row("acknowledged", Table.count(ok))
              .row("unknown outcomes", Table.count(unknown));
      for (Fault fault : Fault.values()) {
        table.row(
            fault.name().toLowerCase(Locale.ROOT).replace('_', ' '), Table.count(count(fault)));
      }
      return table
          .row("doublings of a table", Table.count(doublings))
          .row("words lost by power failures", Table.count(wordsLost))
          .row("simulated time", Table.time(simulatedNs))
          .row("violations", failed == null ? 0 : 1);
    }

    ObjectNode json() {
      ObjectNode node = new ObjectMapper().createObjectNode();
      node.put("firstSeed", firstSeed)
          .put("runs", runs)
          .put("operations", operations)
          .put("ok", ok)
          .put("unknown", unknown)
          .put("crashes", crashes())
          .put("wordsLost", wordsLost)
          .put("doublings", doublings)
          .put("simulatedNs", simulatedNs)
          .put("realNs", realNs);
      ObjectNode byFault = node.putObject("faults");
      for (Fault fault : Fault.values()) {
        byFault.put(fault.name(), count(fault));
      }
      if (failed == null) {
        node.putNull("violation");
      } else {
        node.putObject("violation").put("seed", failed.seed()).put("report", failed.report());
      }
      return node;
    }
  }
}
