package io.erda.eval.baselines;

import io.erda.eval.load.Dataset;
import io.erda.eval.process.ProcessException;
import io.erda.rdma.DeviceStatistics;
import io.erda.simulation.PersistenceDomain;
import io.erda.simulation.SimulatedDevice;
import io.erda.simulation.SimulatedDisk;
import io.erda.simulation.SimulatedNetwork;
import io.erda.simulation.StoreStatistics;
import io.erda.simulation.VirtualTime;
import io.erda.simulation.system.StoreUnderTest;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * One workload of some clients on one scheme in virtual time, on the {@link PaperMachines}. It runs
 * production code; the cost of a step is computed from the messages that it took and the stores
 * that it made. The server and each client have their own processor. The same seed gives the same
 * figures. One thread.
 */
final class SimulatedRun {
  private static final String ADDRESS = "server";
  private static final long SEED = 20_210_101;
  private static final int BASELINE_LOG_BYTES = 4 << 20;

  /** The time between two steps of an idle server, so that its timers go on. */
  private static final long TICK_NS = 1_000_000;

  /** The longest time of a run; a longer one hangs. */
  private static final long HANG_NS = 600_000_000_000L;

  private final VirtualTime time = new VirtualTime(new SplittableRandom(SEED));
  private final SimulatedNetwork network =
      new SimulatedNetwork(time, new SplittableRandom(SEED), PaperMachines.NETWORK);
  private final SimulatedDisk disk =
      new SimulatedDisk(PersistenceDomain.MEMORY_CONTROLLER, new SplittableRandom(SEED));
  private final SimulatedDevice serverDevice = network.device(ADDRESS, disk);
  private final StoreUnderTest store;
  private final Dataset dataset;
  private final ServerNode server;
  private final List<ClientNode> clients = new ArrayList<>();

  /**
   * The result.
   *
   * @param meanNs of an operation
   * @param serverNs of the server's processor, an operation
   */
  record Figures(double meanNs, double perSecond, double serverNs) {}

  private SimulatedRun(Scheme scheme, Dataset dataset, long puts) throws IOException {
    this.dataset = dataset;
    this.store = store(scheme, dataset.objects(), Dataset.KEY_BYTES + dataset.valueBytes(), puts);
    this.server =
        new ServerNode(
            store.start(
                disk.directory(),
                serverDevice,
                ADDRESS,
                List.of(),
                time,
                new SplittableRandom(SEED)));
  }

  private static StoreUnderTest store(Scheme scheme, int objects, int objectBytes, long puts) {
    return scheme.isBaseline()
        ? baseline(scheme.baseline(), objects, objectBytes)
        : new SimulatedErda(scheme.puts(), objects, puts * (objectBytes + 64L) * 2);
  }

  /** A baseline; a FLUSH of the simulated NICs reaches the persistence domain. */
  private static StoreUnderTest baseline(BaselineKind kind, int objects, int objectBytes) {
    // Room for every put having a new key.
    BaselineGeometry geometry =
        BaselineGeometry.forObjects(2L * objects, objectBytes, BASELINE_LOG_BYTES);
    return new BaselineUnderTest(kind, geometry, 0, true);
  }

  /**
   * Loads a store and measures.
   *
   * @param operations of all clients together
   */
  static Figures of(
      Scheme scheme, Dataset dataset, PaperWorkload workload, int clients, int operations) {
    try {
      SimulatedRun run = new SimulatedRun(scheme, dataset, dataset.objects() + operations);
      try {
        run.load();
        return run.measure(workload, clients, operations / clients);
      } finally {
        run.close();
      }
    } catch (IOException e) {
      throw new ProcessException("simulated: " + e.getMessage(), e);
    }
  }

  private void load() {
    ClientNode loader = new ClientNode(dataset.objects(), new Loading());
    runUntilDone(List.of(loader));
    loader.close();
  }

  private Figures measure(PaperWorkload workload, int count, int operations) {
    // Each client first does as many uncounted operations, so that connections and leases exist.
    int warmup = Math.max(1, operations / 4);
    for (int i = 0; i < count; i++) {
      ZipfianKeys keys = new ZipfianKeys(dataset, workload.updatePercent, SEED + i);
      clients.add(new ClientNode(warmup, new Mixed(keys)));
    }
    runUntilDone(clients);
    server.settle();
    long busyBefore = server.busyNs;
    DeviceStatistics before = serverDevice.statistics();
    long beganNs = time.nowNs();
    clients.forEach(client -> client.goOn(operations));
    runUntilDone(clients);
    double elapsedNs =
        clients.stream().mapToLong(client -> client.endedNs).max().orElseThrow() - beganNs;
    server.settle();
    double all = (double) operations * count;
    DeviceStatistics after = serverDevice.statistics();
    double wireBytes =
        after.bytesRead() - before.bytesRead() + after.bytesWritten() - before.bytesWritten();
    elapsedNs = Math.max(elapsedNs, wireBytes / PaperMachines.LINK_BYTES_PER_NS);
    double latencies = clients.stream().mapToLong(client -> client.latenciesNs).sum();
    return new Figures(latencies / all, all * 1e9 / elapsedNs, (server.busyNs - busyBefore) / all);
  }

  private void runUntilDone(List<ClientNode> some) {
    long hangNs = time.nowNs() + HANG_NS;
    while (some.stream().anyMatch(client -> client.left > 0)) {
      // Checking all clients costs more than an event, so several events are run at a time.
      for (int i = 0; i < 64; i++) {
        time.step();
      }
      if (time.nowNs() > hangNs) {
        throw new ProcessException("simulated: clients wait for ever");
      }
    }
  }

  private void close() {
    clients.forEach(ClientNode::close);
    server.scheduled = true; // no further step
    server.server.release();
  }

  /**
   * The server's processor: a step begins when a message was taken, and occupies the processor for
   * its cost.
   */
  private final class ServerNode {
    private final StoreUnderTest.Server server;
    private boolean scheduled;
    private long freeAtNs;
    private long busyNs;

    /** Number of messages that its steps have taken. */
    private long taken;

    ServerNode(StoreUnderTest.Server server) {
      this.server = server;
      serverDevice.onActivity(this::news);
      tick();
    }

    private void tick() {
      news();
      time.after(TICK_NS, this::tick);
    }

    private void news() {
      if (!scheduled) {
        scheduled = true;
        time.at(Math.max(time.nowNs(), freeAtNs), this::take);
      }
    }

    /** The first waiting message is charged before its request is executed. */
    private void take() {
      boolean waits = serverDevice.statistics().receives() > taken;
      time.after(waits ? PaperMachines.MESSAGE_NS : 0, () -> step(waits));
    }

    private void step(boolean firstWasTaken) {
      scheduled = false;
      StoreStatistics stored = disk.statistics();
      long received = serverDevice.statistics().receives();
      long messages = received - taken;
      taken = received;
      int work = server.doWork();
      if (work == 0) {
        return;
      }
      StoreStatistics now = disk.statistics();
      long costNs =
          messages * PaperMachines.MESSAGE_NS
              + (now.stores() - stored.stores()) * PaperMachines.STORE_NS
              + (long) ((now.bytesStored() - stored.bytesStored()) * PaperMachines.NS_PER_BYTE);
      busyNs += costNs;
      freeAtNs = time.nowNs() + costNs - (firstWasTaken ? PaperMachines.MESSAGE_NS : 0);
      scheduled = true;
      time.at(freeAtNs + 1, this::take);
    }

    /** Runs the server until its deferred work is done. */
    void settle() {
      time.runFor(2 * TICK_NS);
    }
  }

  /** Chooses the next operation of a client. */
  private interface Next {
    void begin(StoreUnderTest.Client client, int number);
  }

  private final class Loading implements Next {
    private final MemorySegment key = Arena.ofAuto().allocate(Dataset.KEY_BYTES, 8);

    @Override
    public void begin(StoreUnderTest.Client client, int number) {
      MemorySegment.copy(Dataset.key(number), 0, key, ValueLayout.JAVA_BYTE, 0, Dataset.KEY_BYTES);
      client.put(0, key, dataset.value(number));
    }
  }

  private record Mixed(ZipfianKeys keys) implements Next {
    @Override
    public void begin(StoreUnderTest.Client client, int number) {
      keys.operate(key -> client.get(0, key), (key, value) -> client.put(0, key, value), number);
    }
  }

  /** A client's processor, with one operation at a time. */
  private final class ClientNode implements StoreUnderTest.ClientEvents {
    private final SimulatedDevice device;
    private final StoreUnderTest.Client client;
    private final Next next;
    private int left;
    private int number;
    private boolean scheduled;
    private boolean underWay;
    private long beganNs;
    private long endedNs;
    private long thinksUntilNs;
    private long latenciesNs;
    private boolean closed;

    ClientNode(int operations, Next next) {
      this.next = next;
      left = operations;
      device = network.device("client");
      client = store.connect(device, ADDRESS, time, this);
      device.onActivity(this::news);
      news();
    }

    /** Adds operations, whose times count from now on. */
    void goOn(int operations) {
      left = operations;
      latenciesNs = 0;
      news();
    }

    private void news() {
      if (!scheduled) {
        scheduled = true;
        time.after(1, this::step);
      }
    }

    private void step() {
      scheduled = false;
      if (closed) {
        return;
      }
      int work = client.doWork();
      if (!underWay && left > 0 && time.nowNs() >= thinksUntilNs) {
        underWay = true;
        beganNs = time.nowNs();
        next.begin(client, number++);
        work++;
      }
      if (work > 0) {
        news();
      }
    }

    @Override
    public void got(long token, MemorySegment value) {
      if (value == null) {
        fail("a key is not there");
      } else {
        ended();
      }
    }

    @Override
    public void done(long token) {
      ended();
    }

    @Override
    public void deleted(long token, boolean existed) {
      ended();
    }

    @Override
    public void compared(long token, boolean done) {
      ended();
    }

    private void ended() {
      underWay = false;
      left--;
      endedNs = time.nowNs();
      latenciesNs += endedNs - beganNs;
      thinksUntilNs = endedNs + PaperMachines.CLIENT_NS;
      time.at(thinksUntilNs, this::news);
    }

    @Override
    public void failed(long token, RuntimeException why) {
      fail(why.getMessage());
    }

    @Override
    public void unknown(long token, boolean last, RuntimeException why) {
      fail(why.getMessage());
    }

    @Override
    public void broken(long token, RuntimeException why) {
      fail(why.getMessage());
    }

    private void fail(String why) {
      if (!closed) {
        throw new ProcessException("simulated: " + why);
      }
    }

    void close() {
      closed = true;
      client.close();
      device.close();
    }
  }
}
