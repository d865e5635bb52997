package io.erda.eval.peers;

import io.erda.eval.Experiment;
import io.erda.eval.floor.Floor;
import io.erda.eval.load.Dataset;
import io.erda.eval.peers.process.PeerLibraries;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.report.Report;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Erda, over shared memory and embedded, beside Chronicle Map, LMDB and RocksDB, which are
 * embedded, and Redis and memcached, which are servers: one thread, 16-byte keys, uniform, each
 * system in processes of its own with options that are a user's first. No put waits for a disk;
 * Redis with its append-only file has it synced every second.
 *
 * <p>First fresh JVMs load small stores and are killed, and what they have put is looked for. Then
 * stores are brought to a steady state, all of them, and systems take turns. Big stores would push
 * each other out of memory, so each of them is measured by itself.
 *
 * <p>A system whose jars can't be had, or whose program is not installed, is left out, and the
 * report says so.
 */
public final class PeersExperiment implements Experiment {
  /** The systems whose ratio is a goal at this size; a store takes some 12 GB. */
  private static final List<PeerSystem> BIG =
      List.of(PeerSystem.ERDA_SHM, PeerSystem.CHRONICLE_MAP);

  private static final int KEYS = 1 << 18;
  private static final long SEED = 3;

  @Override
  public String name() {
    return "peers";
  }

  @Override
  public String what() {
    return "Chronicle Map, LMDB, RocksDB, Redis and memcached, each in processes of its own: get,"
        + " put, load of 64 B and 1 KiB, and what a put survives; puts over shm at most 1.5 times"
        + " Chronicle Map's, gets at most 1.0, gets of 1 KiB 60 times as quick as Redis's";
  }

  @Override
  public Report run(Context context) {
    Stage stage =
        new Stage(context, PeerLibraries.installed(), context.quick() ? Sizes.QUICK : Sizes.FULL);
    PeerFigures figures = new PeerFigures();
    List<PeerSystem> systems = stage.systems();
    new LoadMeasurement(stage, Column.Scale.KIB).run(systems, figures);
    new KillCheck(stage, Column.Scale.KIB).run(systems, figures);
    new SteadyMeasurement(stage, Column.Scale.SMALL, Column.GET_SMALL, Column.PUT_SMALL)
        .together(systems, figures);
    new SteadyMeasurement(stage, Column.Scale.KIB, Column.GET_KIB, Column.PUT_KIB)
        .together(systems, figures);
    new SteadyMeasurement(stage, Column.Scale.BIG, Column.GET_BIG, Column.PUT_BIG)
        .oneByOne(systems.stream().filter(BIG::contains).toList(), figures);
    addFloor(stage, Column.Scale.SMALL, Column.GET_SMALL, Column.PUT_SMALL, figures);
    addFloor(stage, Column.Scale.KIB, Column.GET_KIB, Column.PUT_KIB, figures);
    return new PeersReport(stage, figures).report();
  }

  private static void addFloor(
      Stage stage, Column.Scale scale, Column get, Column put, PeerFigures figures) {
    Column.Cell cell = stage.sizes().cell(scale);
    Dataset dataset = new Dataset((int) cell.objects(), cell.valueBytes());
    MemorySegment[] keys = Dataset.keys(dataset.sequence(KEYS, SEED));
    Floor floor = Floor.of(stage.context(), dataset, keys);
    figures.addFloor(get, floor.getNs());
    figures.addFloor(put, floor.putNs());
  }
}
