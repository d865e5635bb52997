package io.erda.simulation.commands;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.console.Numbers;
import io.erda.console.ResultFile;
import io.erda.console.StandardOutput;
import io.erda.console.TerminalProgress;
import io.erda.console.TextTable;
import io.erda.console.UserError;
import io.erda.simulation.system.Crash;
import io.erda.simulation.system.Fault;
import io.erda.simulation.system.ProtocolState;
import io.erda.simulation.system.RunResult;
import io.erda.simulation.system.Shrinker;
import io.erda.simulation.system.SystemSimulation;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code erda simulate}: runs seeds one after the other, until the first that fails. */
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

  private static final int SHRINK_RUNS_MAX = 4000;

  /** From this many runs on, a fault that never happened is a defect of the simulation. */
  private static final int EVERY_FAULT_RUNS = 1000;

  private final LongFunction<RunResult> simulation;
  private final UnaryOperator<RunResult> shrinker;

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

  /** Simulates the production code. */
  public SimulateCommand() {
    this(
        seed -> SystemSimulation.of(seed).run(),
        new Shrinker(
                (seed, configuration) -> SystemSimulation.of(seed, configuration).run(),
                SHRINK_RUNS_MAX)
            ::shrink);
  }

  /**
   * @param simulation runs a seed
   */
  SimulateCommand(LongFunction<RunResult> simulation) {
    this(simulation, UnaryOperator.identity());
  }

  private SimulateCommand(LongFunction<RunResult> simulation, UnaryOperator<RunResult> shrinker) {
    this.simulation = simulation;
    this.shrinker = shrinker;
  }

  @Override
  public Integer call() throws IOException {
    if ((seconds != null && seconds < 1) || (runs != null && runs < 1)) {
      throw new UserError("--seconds and --runs must be at least 1", 2);
    }
    ResultFile.requireWritable(json);
    Sum sum = new Sum(seed != null ? seed : new SecureRandom().nextLong() >>> 1);
    simulate(sum);
    PrintWriter out = spec.commandLine().getOut();
    out.print(sum.table());
    out.print("\n" + sum.crashTable());
    ResultFile.write(json, sum.json());
    if (sum.failed != null) {
      out.println("\n" + sum.failed.report());
      out.println("\nmade small:\n");
      RunResult small = shrinker.apply(sum.failed);
      out.println(small.report());
      out.println(small.history() == null ? "" : small.history());
      out.flush();
      throw new UserError(
          "violation; again with: ./erda simulate --runs 1 --seed " + sum.failed.seed());
    }
    List<String> never = sum.neverHappened();
    if (sum.runs >= EVERY_FAULT_RUNS && !never.isEmpty()) {
      throw new UserError("a defect of the simulation: never happened: " + never);
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
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long beganNs = System.nanoTime();
    long beganCpuNs = threads.getCurrentThreadCpuTime();
    long shownNs = beganNs;
    while (sum.failed == null && sum.runs < runsMax && sum.realNs < limitNs) {
      sum.add(simulation.apply(sum.firstSeed + sum.runs));
      long nowNs = System.nanoTime();
      sum.realNs = nowNs - beganNs;
      sum.cpuNs = threads.getCurrentThreadCpuTime() - beganCpuNs;
      if (nowNs - shownNs >= PROGRESS_GAP_NS) {
        shownNs = nowNs;
        progress.at(sum.line());
      }
    }
    progress.done(sum.line());
  }

  /** Adds up the runs so far. */
  private static final class Sum {
    final long firstSeed;
    private final Map<Fault, Long> faults = new EnumMap<>(Fault.class);
    long runs;
    long realNs;

    /** CPU time of the thread that simulates. */
    long cpuNs;

    private final Map<Crash, Long> crashes = new TreeMap<>();
    private final Set<String> places = new TreeSet<>();
    private long operations;
    private long ok;
    private long unknown;
    private long simulatedNs;
    private long wordsLost;
    private long doublings;
    private long halvings;
    private long halvingsTurned;
    private long commitsInside;
    private long commitsOutside;
    private long commitsDefeated;
    private long cleanings;

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
      halvings += result.halvings();
      halvingsTurned += result.halvingsTurned();
      commitsInside += result.commitsInside();
      commitsOutside += result.commitsOutside();
      commitsDefeated += result.commitsDefeated();
      cleanings += result.cleanings();
      result.faults().forEach((fault, count) -> faults.merge(fault, count, Long::sum));
      result.crashes().forEach((crash, count) -> crashes.merge(crash, count, Long::sum));
      places.addAll(result.places());
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
          + count(Fault.CLIENT_CRASH)
          + count(Fault.CLIENT_CRASH_IN_POST);
    }

    /** The faults, and other things that many runs must have, that never happened. */
    List<String> neverHappened() {
      List<String> never =
          Arrays.stream(Fault.values())
              .filter(fault -> count(fault) == 0)
              .map(Fault::name)
              .collect(Collectors.toCollection(ArrayList::new));
      if (halvings == 0) {
        never.add("halving of a table");
      }
      if (halvingsTurned == 0) {
        never.add("halving that turned round");
      }
      if (commitsInside == 0) {
        never.add("commit by a client of an embedded store");
      }
      if (commitsOutside == 0) {
        never.add("commit by a client of another process");
      }
      if (commitsDefeated == 0) {
        never.add("commit of a stopped client that was ended");
      }
      return never;
    }

    private long operationsPerCpuSecond() {
      return cpuNs == 0 ? 0 : Math.round(operations / (cpuNs / 1e9));
    }

    /** Methods of the servers' code that call its memory, in which no crash has struck. */
    private List<String> neverCrashedIn() {
      Set<String> struck = crashes.keySet().stream().map(Crash::place).collect(Collectors.toSet());
      return places.stream().filter(place -> !struck.contains(place)).toList();
    }

    private List<String> statesNeverMet() {
      Set<String> met = crashes.keySet().stream().map(Crash::stateText).collect(Collectors.toSet());
      return Stream.of(true, false)
          .flatMap(recovering ->
              Arrays.stream(ProtocolState.values())
                  .map(state -> new Crash("", recovering, state).stateText()))
          .filter(state -> !met.contains(state))
          .toList();
    }

    /** Crashes by place in the code, and by the state of the store. */
    TextTable crashTable() {
      TextTable table = new TextTable("crashes struck", "");
      crashes.forEach((crash, count) ->
          table.row(crash.place() + ", " + crash.stateText(), Numbers.count(count)));
      neverCrashedIn().forEach(place -> table.row(place + ", in any state", 0));
      statesNeverMet().forEach(state -> table.row("anywhere, " + state, 0));
      return table;
    }

    /** Simulated seconds per real second. */
    private double speed() {
      return realNs == 0 ? 0 : (double) simulatedNs / realNs;
    }

    String line() {
      return "%s runs, %s operations, %s crashes, %s simulated seconds per second"
          .formatted(
              Numbers.count(runs),
              Numbers.count(operations),
              Numbers.count(crashes()),
              Numbers.decimal(speed()));
    }

    TextTable table() {
      TextTable table =
          new TextTable("simulate", "")
              .row("first seed", firstSeed)
              .row("runs", Numbers.count(runs))
              .row("operations", Numbers.count(operations))
              .row("acknowledged", Numbers.count(ok))
              .row("unknown outcomes", Numbers.count(unknown));
      for (Fault fault : Fault.values()) {
        table.row(
            fault.name().toLowerCase(Locale.ROOT).replace('_', ' '), Numbers.count(count(fault)));
      }
      return table
          .row("doublings of a table", Numbers.count(doublings))
          .row("halvings of a table", Numbers.count(halvings))
          .row("halvings that turned round", Numbers.count(halvingsTurned))
          .row("commits by clients of embedded stores", Numbers.count(commitsInside))
          .row("commits by clients of other processes", Numbers.count(commitsOutside))
          .row("… of which were ended", Numbers.count(commitsDefeated))
          .row("regions cleaned", Numbers.count(cleanings))
          .row("words lost by power failures", Numbers.count(wordsLost))
          .row("operations per CPU second", Numbers.count(operationsPerCpuSecond()))
          .row("simulated time", Numbers.time(simulatedNs))
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
          .put("halvings", halvings)
          .put("halvingsTurned", halvingsTurned)
          .put("commitsInside", commitsInside)
          .put("commitsOutside", commitsOutside)
          .put("commitsDefeated", commitsDefeated)
          .put("regionsCleaned", cleanings)
          .put("simulatedNs", simulatedNs)
          .put("realNs", realNs)
          .put("cpuNs", cpuNs)
          .put("operationsPerCpuSecond", operationsPerCpuSecond());
      ObjectNode byFault = node.putObject("faults");
      for (Fault fault : Fault.values()) {
        byFault.put(fault.name(), count(fault));
      }
      ArrayNode struck = node.putArray("struck");
      crashes.forEach((crash, count) ->
          struck
              .addObject()
              .put("place", crash.place())
              .put("state", crash.stateText())
              .put("count", count));
      ArrayNode neverStruck = node.putArray("neverStruck");
      neverCrashedIn().forEach(neverStruck::add);
      ArrayNode neverMet = node.putArray("statesNeverMet");
      statesNeverMet().forEach(neverMet::add);
      if (failed == null) {
        node.putNull("violation");
      } else {
        node.putObject("violation").put("seed", failed.seed()).put("report", failed.report());
      }
      return node;
    }
  }
}
