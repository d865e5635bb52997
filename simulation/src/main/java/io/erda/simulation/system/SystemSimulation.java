package io.erda.simulation.system;

import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.Survives;
import io.erda.rdma.Device;
import io.erda.simulation.SimulatedCrash;
import io.erda.simulation.SimulatedDevice;
import io.erda.simulation.SimulatedDisk;
import io.erda.simulation.SimulatedNetwork;
import io.erda.simulation.VirtualTime;
import io.erda.simulation.history.LinearizabilityChecker;
import io.erda.simulation.history.Outcome;
import io.erda.simulation.history.Verdict;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;

/**
 * One server host and some clients, from a seed to a verdict.
 *
 * <p>The server crashes and starts again, its host loses power, clients die and others take their
 * place, connections are lost, processes stop for a while; then faults end, everything heals, every
 * operation must end, a new client gets every key, and the history must be linearizable. Where the
 * power fails the store must promise to survive it, so what was acknowledged must be there.
 */
public final class SystemSimulation {
  private static final String ADDRESS = "store";

  /**
   * When faults have ended every operation ends within this. Well above the time-outs of the
   * clients.
   */
  private static final long PATIENCE_NS = 3_000_000_000L;

  private static final long EVENTS_MAX = 200_000_000L;

  private final long seed;
  private final SplittableRandom random;
  private final Configuration configuration;
  private final StoreUnderTest store;
  private final VirtualTime time;
  private final SimulatedNetwork network;
  private final SimulatedDisk disk;
  private final Workload workload;
  private final Map<Fault, Long> faults = new EnumMap<>(Fault.class);

  /** Those that live. */
  private final List<ClientProcess> clients = new ArrayList<>();

  private final UnaryOperator<MemoryDirectory> overDirectory;
  private final UnaryOperator<Device> overServerDevice;
  private final long beganNs;

  private SimulatedDevice serverDevice;
  private Node server;
  private boolean powerFailsNext;
  private boolean healing;
  private int nextClient = 1;

  /** The production code under the configuration of a seed. */
  public static SystemSimulation of(long seed) {
    return of(seed, Configuration.random(new SplittableRandom(seed ^ 0x5EED_C0DEL)));
  }

  /** The production code under a configuration. */
  public static SystemSimulation of(long seed, Configuration configuration) {
    return new SystemSimulation(
        seed,
        configuration,
        new ErdaUnderTest(configuration.store(), configuration.limits(), configuration.client()),
        UnaryOperator.identity(),
        UnaryOperator.identity());
  }

  /**
   * Any store.
   *
   * @param overDirectory wraps the directory of each life of the server: where a deliberate defect
   *     comes in
   * @param overServerDevice wraps the device of each life of the server
   */
  public SystemSimulation(
      long seed,
      Configuration configuration,
      StoreUnderTest store,
      UnaryOperator<MemoryDirectory> overDirectory,
      UnaryOperator<Device> overServerDevice) {
    this.seed = seed;
    this.random = new SplittableRandom(seed);
    this.configuration = configuration;
    this.store = store;
    this.overDirectory = overDirectory;
    this.overServerDevice = overServerDevice;
    time = new VirtualTime(random.split());
    network = new SimulatedNetwork(time, random.split(), configuration.network());
    disk = new SimulatedDisk(configuration.domain(), random.split());
    workload = new Workload(configuration, random.split());
    beganNs = time.nowNs();
  }

  /** Runs it to its end. */
  public RunResult run() {
    startServer();
    for (int i = 0; i < configuration.clients(); i++) {
      startClient();
    }
    if (configuration.faultGapNs() > 0) {
      nextFault();
    }
    long events = 0;
    while (!workload.isDone() && time.step()) {
      if (++events > EVENTS_MAX) {
        workload.fail("still busy after " + events + " events");
      }
    }
    if (workload.failure() == null) {
      heal();
    }
    if (workload.failure() == null) {
      check();
    }
    return new RunResult(
        seed,
        configuration,
        workload.history.size(),
        workload.history.count(Outcome.OK),
        workload.history.count(Outcome.UNKNOWN),
        time.nowNs() - beganNs,
        faults,
        disk.statistics(),
        store.doublings(),
        workload.failure());
  }

  // The end

  private void heal() {
    healing = true;
    disk.crashNever();
    long deadline = time.nowNs() + PATIENCE_NS;
    while (busy() && time.nextNs() <= deadline && workload.failure() == null) {
      time.step();
    }
    if (busy()) {
      workload.fail("operations that never end: " + openOperations());
      return;
    }
    ClientProcess reader = startClient();
    for (int key = 0; key < configuration.keys() && workload.failure() == null; key++) {
      reader.getAtTheEnd(key);
      while (reader.open > 0
          && time.nextNs() <= deadline + PATIENCE_NS
          && workload.failure() == null) {
        time.step();
      }
      if (reader.open > 0) {
        workload.fail("the last get of key " + key + " never ends");
      }
    }
  }

  private boolean busy() {
    return clients.stream().anyMatch(client -> client.open > 0);
  }

  private String openOperations() {
    StringBuilder text = new StringBuilder();
    clients.stream()
        .filter(client -> client.open > 0)
        .forEach(client ->
            text.append("client ")
                .append(client.number)
                .append(": ")
                .append(client.open)
                .append("; "));
    return text.toString();
  }

  private void check() {
    switch (new LinearizabilityChecker().check(workload.history)) {
      case Verdict.Violation violation -> workload.fail(violation.report());
      case Verdict.Undecided undecided -> workload.fail("undecided: " + undecided.reason());
      case Verdict.Linearizable ignored -> {}
    }
  }

  // Faults

  private void happened(Fault fault) {
    faults.merge(fault, 1L, Long::sum);
    workload.history.mark(fault.name().toLowerCase(java.util.Locale.ROOT).replace('_', ' '));
  }

  private void nextFault() {
    time.after(
        1 + random.nextLong(2 * configuration.faultGapNs()),
        () -> {
          if (!healing) {
            fault(Fault.values()[random.nextInt(Fault.values().length)]);
            nextFault();
          }
        });
  }

  private void fault(Fault fault) {
    boolean serves = server != null && !server.isDead();
    switch (fault) {
      case SERVER_CRASH -> {
        if (serves) {
          serverDied(fault);
        }
      }
      // While it serves or while it starts: as it comes.
      case SERVER_CRASH_IN_STORE, SERVER_CRASH_IN_RECOVERY ->
          disk.crashAfter(1 + random.nextInt(1 << random.nextInt(1, 9)));
      case POWER_FAILURE -> {
        if (serves && survivesPower()) {
          powerFailsNext = true;
          serverDied(Fault.SERVER_CRASH);
        }
      }
      case SERVER_PAUSE -> {
        if (serves) {
          happened(fault);
          server.pause(random.nextLong(1L << random.nextInt(10, 27)));
        }
      }
      case CLIENT_CRASH -> crashClient();
      case CLIENT_PAUSE -> {
        if (!clients.isEmpty()) {
          happened(fault);
          clients
              .get(random.nextInt(clients.size()))
              .node
              .pause(random.nextLong(1L << random.nextInt(10, 29)));
        }
      }
      case CONNECTION_LOSS -> {
        if (network.breakConnection(random)) {
          happened(fault);
        }
      }
    }
  }

  private boolean survivesPower() {
    return configuration.domain().survives() == Survives.POWER_FAILURE;
  }

  // The server

  private void startServer() {
    serverDevice = network.device("server", disk);
    Node[] self = new Node[1];
    StoreUnderTest.Server core;
    try {
      core =
          store.start(
              overDirectory.apply(disk.directory()),
              overServerDevice.apply(serverDevice),
              ADDRESS,
              time,
              random.split());
    } catch (SimulatedCrash crash) {
      serverDied(Fault.SERVER_CRASH_IN_RECOVERY);
      return;
    } catch (IOException | RuntimeException e) {
      workload.fail("the server does not start: " + describe(e));
      return;
    }
    self[0] =
        new Node(
            time,
            random.split(),
            () -> guarded("the server", core::doWork),
            () -> serverDied(Fault.SERVER_CRASH_IN_STORE),
            configuration.stepNs(),
            configuration.idleNs());
    server = self[0];
    serverDevice.onActivity(self[0]::wake);
  }

  /** Its process is gone, and sometimes its host's power; another one starts a little later. */
  private void serverDied(Fault how) {
    happened(how);
    if (server != null) {
      server.kill();
    }
    boolean power =
        powerFailsNext || (how != Fault.SERVER_CRASH && survivesPower() && random.nextBoolean());
    powerFailsNext = false;
    if (power) {
      happened(Fault.POWER_FAILURE);
      serverDevice.powerFailure();
      disk.powerFailure(random);
      if (configuration.network().readsOutlivePeer()) {
        // Who reads the server's memory after its death sits on its host.
        List.copyOf(clients).forEach(ClientProcess::crash);
      }
    } else {
      serverDevice.crash();
      disk.processCrash();
    }
    time.after(
        random.nextLong(1L << random.nextInt(8, 25)),
        () -> {
          workload.history.mark("server starts");
          startServer();
        });
  }

  private static String describe(Throwable e) {
    StringBuilder text = new StringBuilder(e.toString());
    for (int i = 0; i < Math.min(12, e.getStackTrace().length); i++) {
      text.append("\n    at ").append(e.getStackTrace()[i]);
    }
    return text.toString();
  }

  /** What a step throws that is no crash is a defect. */
  private int guarded(String who, java.util.function.IntSupplier step) {
    try {
      return step.getAsInt();
    } catch (RuntimeException | AssertionError e) {
      workload.fail(who + " failed: " + describe(e));
      return 0;
    }
  }

  // The clients

  private ClientProcess startClient() {
    ClientProcess client = new ClientProcess(nextClient++);
    clients.add(client);
    return client;
  }

  private void crashClient() {
    if (!clients.isEmpty()) {
      happened(Fault.CLIENT_CRASH);
      clients.get(random.nextInt(clients.size())).crash();
    }
  }

  /** One client, until it crashes. */
  private final class ClientProcess implements StoreUnderTest.ClientEvents {
    final int number;
    final SimulatedDevice device;
    final Node node;
    private final StoreUnderTest.Client client;
    private final SplittableRandom thoughts = random.split();
    private final long thinkNs = 1L << random.nextInt(1, 17);
    private long thinksUntilNs;
    int open;

    ClientProcess(int number) {
      this.number = number;
      device = network.device("client " + number);
      client = store.connect(device, ADDRESS, time, this);
      node =
          new Node(
              time,
              random.split(),
              () -> guarded("client " + number, this::step),
              () -> {},
              configuration.stepNs(),
              configuration.idleNs());
      device.onActivity(node::wake);
    }

    private int step() {
      int work = client.doWork();
      if (!healing
          && open < configuration.pipeline()
          && time.nowNs() >= thinksUntilNs
          && !workload.isDone()) {
        thinksUntilNs = time.nowNs() + thoughts.nextLong(2 * thinkNs);
        time.at(thinksUntilNs, node::wake);
        open++;
        if (!workload.begin(number, client)) {
          open--;
        }
        work++;
      }
      return work;
    }

    void getAtTheEnd(int key) {
      open++;
      if (!workload.get(number, client, key)) {
        workload.fail("an idle client takes no get");
      }
      node.wake();
    }

    void crash() {
      node.kill();
      device.crash();
      clients.remove(this);
      if (!healing) {
        time.after(
            random.nextLong(1L << random.nextInt(8, 22)), SystemSimulation.this::startClient);
      }
    }

    @Override
    public void got(long token, MemorySegment value) {
      open--;
      workload.history.ok((int) token, workload.identify(value));
    }

    @Override
    public void done(long token) {
      open--;
      workload.history.ok((int) token, 0);
    }

    @Override
    public void deleted(long token, boolean existed) {
      open--;
      workload.history.ok((int) token, existed ? 1 : 0);
    }

    @Override
    public void failed(long token, RuntimeException why) {
      open--;
      workload.history.failed((int) token);
    }

    @Override
    public void unknown(long token, RuntimeException why) {
      open--;
    }

    @Override
    public void broken(long token, RuntimeException why) {
      open--;
      workload.fail("client " + number + " was told: " + why);
    }
  }
}
