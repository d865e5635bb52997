package io.erda.eval.experiments.scale;

import io.erda.eval.Experiment.Context;
import io.erda.eval.experiments.network.FairShare;
import io.erda.eval.floor.BesideFloor;
import io.erda.eval.floor.FloorReader;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.ServedStore;
import io.erda.eval.load.StoreSize;
import io.erda.eval.process.ProcessException;
import io.erda.eval.report.Rounds;
import io.erda.logstore.ObjectLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * From 1 to 64 connections over shared memory, each with its own thread in one process: measures
 * the time between successive operations of all connections together.
 */
final class ClientsGrow implements Growth {
  private static final int[] CONNECTIONS = {1, 2, 4, 8, 16, 32, 64};
  private static final int MOST = CONNECTIONS[CONNECTIONS.length - 1];
  private static final int VALUE_BYTES = 64;

  /** The least time of a put, so that the log has room for all puts. */
  private static final long PUT_NS_MIN = 500;

  @Override
  public Found measure(Context context) {
    int objects = context.quick() ? 10_000 : 100_000;
    int rounds = context.roundsOr(5, 2);
    long turnNs = context.quick() ? 100_000_000L : 500_000_000L;
    Dataset dataset = new Dataset(objects, VALUE_BYTES);
    MemorySegment[] keys = Dataset.keys(dataset.sequence(1 << 16, 13));
    long puts = CONNECTIONS.length * (rounds + 1L) * turnNs / PUT_NS_MIN;
    List<Double> slowest = new ArrayList<>();
    List<Double> slowestOfFloor = new ArrayList<>();
    Curve curve =
        new Curve(
            String.format(
                Locale.ROOT,
                "Time from one operation to the next of all connections, %,d objects of 64 bytes",
                objects),
            "connections",
            Curve.FLOOR,
            Curve.GET,
            Curve.PUT);
    try (ServedStore store =
        ServedStore.create(
            context,
            "scale",
            StoreSize.flags(objects, objects + puts, Dataset.KEY_BYTES + VALUE_BYTES))) {
      store.load(dataset);
      FloorReader.Layout layout = BesideFloor.look(store, keys);
      String uri = store.server().uri();
      double[][] readNs = new double[CONNECTIONS.length][];
      for (int i = 0; i < CONNECTIONS.length; i++) {
        int connections = CONNECTIONS[i];
        context.progress().step(connections + " connections get");
        try (FairShare floors = new FairShare(connections, () -> new Floor(layout));
            FairShare gets = FairShare.ofGets(uri, connections, keys, VALUE_BYTES)) {
          List<Double> shares = new ArrayList<>();
          List<Double> floorShares = new ArrayList<>();
          Rounds read =
              new Rounds()
                  .measure(Curve.FLOOR, () -> ns(floors.run(turnNs), floorShares))
                  .measure(Curve.GET, () -> ns(gets.run(turnNs), shares))
                  .run(1, rounds, context.progress());
          readNs[i] = new double[] {read.median(Curve.FLOOR), read.median(Curve.GET)};
          slowest.add(Rounds.median(shares));
          slowestOfFloor.add(Rounds.median(floorShares));
        }
        context.progress().done("");
      }
      // The floor reads the places where objects lay before.
      for (int i = 0; i < CONNECTIONS.length; i++) {
        context.progress().step(CONNECTIONS[i] + " connections put");
        try (FairShare putting = FairShare.ofPuts(uri, CONNECTIONS[i], keys, dataset.value(1))) {
          Rounds put =
              new Rounds()
                  .measure(Curve.PUT, () -> ns(putting.run(turnNs), new ArrayList<>()))
                  .run(1, rounds, context.progress());
          curve.add(CONNECTIONS[i], readNs[i][0], readNs[i][1], put.median(Curve.PUT));
        }
        context.progress().done("");
      }
    }
    return new Found(curve, words(curve, slowest.getLast(), slowestOfFloor.getLast()));
  }

  private static double ns(FairShare.Shares shares, List<Double> slowest) {
    slowest.add(shares.slowestOfMedian());
    return 1e9 / shares.perSecond();
  }

  private static String words(Curve curve, double slowest, double slowestOfFloor) {
    return String.format(
        Locale.ROOT,
        "This machine has %d cores. Two connections get %.2f times as much as one, the floor's two"
            + " threads %.2f times; 64 connections get %.2f times, the floor %.2f times, and put"
            + " %.2f times as much as one. %s",
        Runtime.getRuntime().availableProcessors(),
        1 / curve.times(Curve.GET, 1, 2),
        1 / curve.times(Curve.FLOOR, 1, 2),
        1 / curve.times(Curve.GET, 1, MOST),
        1 / curve.times(Curve.FLOOR, 1, MOST),
        1 / curve.times(Curve.PUT, 1, MOST),
        ofTheSlowest(slowest, slowestOfFloor));
  }

  /**
   * The words about the slowest connection; with turns so short that most threads have none, there
   * is no slowest one.
   */
  private static String ofTheSlowest(double slowest, double slowestOfFloor) {
    return Double.isNaN(slowest) || Double.isNaN(slowestOfFloor)
        ? "Most of 64 got nothing in so short a time."
        : String.format(
            Locale.ROOT,
            "Of 64 the slowest gets %.2f times what the one in the middle does; of the floor's 64"
                + " threads, which have no connection, %.2f times, and so much of it is the"
                + " scheduler's.",
            slowest,
            slowestOfFloor);
  }

  /** Reads the store's files without a connection. */
  private static final class Floor implements FairShare.Connection {
    private final long[] keyWords;
    private final FloorReader reader;

    Floor(FloorReader.Layout layout) {
      this.keyWords = layout.keyWords();
      try {
        this.reader = FloorReader.open(layout, ObjectLayout.bytes(Dataset.KEY_BYTES, VALUE_BYTES));
      } catch (IOException e) {
        throw new ProcessException("can't map the store's files: " + e.getMessage(), e);
      }
    }

    @Override
    public void operate(int number) {
      if (reader.read(keyWords[number % keyWords.length]) < 0) {
        throw new ProcessException("the floor did not find an object");
      }
    }

    @Override
    public void close() {
      reader.close();
    }
  }
}
