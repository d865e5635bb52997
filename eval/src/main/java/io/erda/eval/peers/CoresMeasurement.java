package io.erda.eval.peers;

import io.erda.console.Numbers;
import io.erda.eval.peers.Column.Cell;
import io.erda.eval.peers.Column.Scale;
import io.erda.eval.peers.process.PeerProcess;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.report.Rounds;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Operations of several threads on stores of one size. All systems are open at the same time, and
 * take turns, round after round. Inserts have stores of their own, which grow.
 */
final class CoresMeasurement {
  private static final List<CoresLoad> WITHOUT_INSERTS =
      Stream.of(CoresLoad.values()).filter(load -> load != CoresLoad.INSERTS).toList();

  private final Stage stage;
  private final Scale scale;
  private final List<Integer> threadCounts;
  private final CoresFigures figures;

  /**
   * @param threadCounts rising
   */
  CoresMeasurement(Stage stage, Scale scale, List<Integer> threadCounts, CoresFigures figures) {
    this.stage = stage;
    this.scale = scale;
    this.threadCounts = threadCounts;
    this.figures = figures;
  }

  /** A quick run inserts only small objects, because it takes long to start processes. */
  void run(List<PeerSystem> systems) {
    measure(systems, WITHOUT_INSERTS, cell(), this::bringToSteadyState);
    if (stage.context().quick() && scale != Scale.SMALL) {
      return;
    }
    // Each turn has other keys, and so has the turn before the first.
    long turns = threadCounts.size() * (long) stage.rounds() + 1;
    Cell room = new Cell(cell().valueBytes(), cell().objects() * turns);
    measure(systems, List.of(CoresLoad.INSERTS), room, this::insertFirst);
  }

  private Cell cell() {
    return stage.sizes().cell(scale);
  }

  private int mostThreads() {
    return threadCounts.getLast();
  }

  private Duration turn() {
    return stage.sizes().turn();
  }

  /** Prepares the process of a system. */
  private interface Preparation {
    void prepare(PeerProcess process);
  }

  private void measure(
      List<PeerSystem> systems, List<CoresLoad> loads, Cell room, Preparation preparation) {
    Map<PeerSystem, MeasuredPeer> peers = new EnumMap<>(PeerSystem.class);
    try {
      for (PeerSystem system : systems) {
        stage
            .context()
            .progress()
            .step(
                system.title()
                    + ": room for "
                    + Numbers.count(room.objects())
                    + " objects of "
                    + room.valueBytes()
                    + " bytes");
        MeasuredPeer peer = MeasuredPeer.create(stage, system, room, false);
        peers.put(system, peer);
        preparation.prepare(peer.process());
        stage.context().progress().done("");
      }
      takeTurns(peers, loads);
    } finally {
      peers.values().forEach(MeasuredPeer::close);
    }
  }

  /**
   * Loads the store, and writes it until its pages are touched: the turns would measure the faults
   * of fresh ones.
   */
  private void bringToSteadyState(PeerProcess process) {
    stage.context().progress().at("load");
    process.load();
    stage.context().progress().at("warm up");
    CoresLoad.UPDATES.perSecond(process, mostThreads(), cell(), stage.sizes().firstPuts());
    CoresLoad.GETS.perSecond(process, mostThreads(), cell(), stage.sizes().firstGets());
    WITHOUT_INSERTS.forEach(load -> load.perSecond(process, mostThreads(), cell(), turn()));
  }

  private void insertFirst(PeerProcess process) {
    CoresLoad.INSERTS.perSecond(process, mostThreads(), cell(), turn());
  }

  private void takeTurns(Map<PeerSystem, MeasuredPeer> peers, List<CoresLoad> loads) {
    stage.context().progress().step("in turns");
    Rounds rounds = new Rounds();
    forEachTurn(
        peers,
        loads,
        (load, threads, system) ->
            rounds.measure(
                name(load, threads, system),
                () -> load.perSecond(peers.get(system).process(), threads, cell(), turn())));
    rounds.run(0, stage.rounds(), stage.context().progress());
    stage.context().progress().done("");
    forEachTurn(
        peers,
        loads,
        (load, threads, system) ->
            figures.add(scale, load, system, threads, rounds.values(name(load, threads, system))));
  }

  private static String name(CoresLoad load, int threads, PeerSystem system) {
    return load + " " + threads + " " + system;
  }

  /** An action for each turn of a round. */
  private interface Each {
    void turn(CoresLoad load, int threads, PeerSystem system);
  }

  /** The systems are compared, so their turns follow each other. */
  private void forEachTurn(Map<PeerSystem, MeasuredPeer> peers, List<CoresLoad> loads, Each each) {
    for (CoresLoad load : loads) {
      for (int threads : threadCounts) {
        peers.keySet().forEach(system -> each.turn(load, threads, system));
      }
    }
  }
}
