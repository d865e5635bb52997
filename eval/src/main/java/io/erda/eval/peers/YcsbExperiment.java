package io.erda.eval.peers;

import io.erda.console.Numbers;
import io.erda.eval.Experiment;
import io.erda.eval.load.LoadResult;
import io.erda.eval.peers.process.PeerLibraries;
import io.erda.eval.peers.process.PeerProcess;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Measures the systems of {@link PeersExperiment} with YCSB's harness, with one binding for all of
 * them: one thread, objects of 1 KiB, loaded by YCSB, some of them hot. Then without YCSB at one
 * rate for all, where an operation is timed from when it was due. All stores are open at the same
 * time and take turns; at the end their processes are killed, and their puts are searched for. One
 * more system stores nothing, which measures the harness itself.
 */
public final class YcsbExperiment implements Experiment {
  static final List<String> WORKLOADS = List.of("workloadc", "workloadb", "workloada");

  /** The interval between operations at a steady rate. */
  static final Duration INTERVAL = Duration.ofNanos(100_000);

  @Override
  public String name() {
    return "peers-ycsb";
  }

  @Override
  public String what() {
    return "the systems of peers are measured by YCSB's harness with its load and workloads C, B"
        + " and A by one thread, and without it at 10,000 operations a second, each timed from"
        + " when it was due; nothing is expected";
  }

  @Override
  public Report run(Context context) {
    Stage stage =
        new Stage(
            context, PeerLibraries.installed(), context.quick() ? PeerSizes.QUICK : PeerSizes.FULL);
    List<PeerSystem> systems = new ArrayList<>(stage.systems());
    systems.add(PeerSystem.NOTHING);
    YcsbFigures figures = new YcsbFigures();
    Survival survival = new Survival();
    Map<PeerSystem, MeasuredPeer> peers = new EnumMap<>(PeerSystem.class);
    try {
      for (PeerSystem system : systems) {
        context.progress().step(system.title() + ": " + Numbers.count(objects(stage)) + " objects");
        MeasuredPeer peer = MeasuredPeer.create(stage, system, stage.sizes().kib(), false);
        peers.put(system, peer);
        warmUp(stage, system, peer.process(), figures);
        context.progress().done("");
      }
      takeTurns(stage, peers, figures);
      context.progress().step("kill processes and look what is there");
      peers.forEach(survival::killAndLook);
      context.progress().done("");
    } finally {
      peers.values().forEach(MeasuredPeer::close);
    }
    return new YcsbReport(stage, systems, figures, survival).report();
  }

  static long objects(Stage stage) {
    return stage.sizes().kib().objects();
  }

  /** How long each workload, and then the steady rate, runs before the measurement. */
  static Duration warmUp(Stage stage) {
    return stage.sizes().turn().multipliedBy(stage.context().quick() ? 1 : 5);
  }

  /** How long the steady rate lasts: long enough to measure the slowest operations. */
  static Duration paced(Stage stage) {
    return stage.sizes().turn().multipliedBy(stage.context().quick() ? 1 : 4);
  }

  private static void warmUp(
      Stage stage, PeerSystem system, PeerProcess process, YcsbFigures figures) {
    stage.context().progress().at("load");
    figures.add(system, YcsbFigures.LOAD, process.ycsbLoad(WORKLOADS.getFirst()));
    stage.context().progress().at("warm up");
    WORKLOADS.forEach(workload -> process.ycsb(workload, warmUp(stage)));
    process.paced(warmUp(stage), INTERVAL);
  }

  private static void takeTurns(
      Stage stage, Map<PeerSystem, MeasuredPeer> peers, YcsbFigures figures) {
    Duration turn = stage.sizes().turn();
    Duration paced = paced(stage);
    stage.context().progress().step("in turns");
    Rounds rounds = new Rounds();
    peers.forEach((system, peer) -> {
      for (String workload : WORKLOADS) {
        measure(rounds, figures, system, workload, peer, process -> process.ycsb(workload, turn));
      }
      measure(
          rounds,
          figures,
          system,
          YcsbFigures.PACED,
          peer,
          process -> process.paced(paced, INTERVAL));
    });
    rounds.run(0, stage.rounds(), stage.context().progress());
    stage.context().progress().done("");
  }

  private static void measure(
      Rounds rounds,
      YcsbFigures figures,
      PeerSystem system,
      String what,
      MeasuredPeer peer,
      Function<PeerProcess, LoadResult> turn) {
    rounds.measure(
        system + " " + what,
        () -> {
          LoadResult result = turn.apply(peer.process());
          figures.add(system, what, result);
          return result.throughputOpsPerSecond();
        });
  }
}
