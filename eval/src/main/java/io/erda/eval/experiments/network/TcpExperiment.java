package io.erda.eval.experiments.network;

import io.erda.client.ErdaClient;
import io.erda.eval.Experiment;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.LoadChild;
import io.erda.eval.load.LoadPhase;
import io.erda.eval.load.LoadResult;
import io.erda.eval.load.ServedStore;
import io.erda.eval.load.YcsbStore;
import io.erda.eval.process.BareTcpChild;
import io.erda.eval.process.CpuTime;
import io.erda.eval.process.DeviceChoice;
import io.erda.eval.process.ProcessException;
import io.erda.eval.redis.RedisClient;
import io.erda.eval.redis.RedisServer;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.StatsFigures;
import io.erda.protocol.ErdaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Gets and updates over TCP, on loopback, of a server with default options: one connection compared
 * with a bare request and answer of the same bytes; several gets at once compared with one at a
 * time and with Redis; how evenly many connections are served; and the processor time of gets in
 * the server's process, for the thread with its logic and the thread with its sockets.
 */
public final class TcpExperiment implements Experiment {
  static final int AT_ONCE = 16;
  static final int CONNECTIONS = 64;
  static final int VALUE_BYTES = 1024;
  private static final int OBJECTS = 100_000;
  private static final int WARMUP = 3;
  private static final int ROUNDS = 7;

  /** Number of keys that are asked for repeatedly, some in each round. */
  private static final int AGAIN_KEYS = 1_000;

  /** How many warm-ups a client needs to remember the places of these keys. */
  private static final int AGAIN_WARMUPS = 16;

  static final String BARE_ONE = "bareOne";
  static final String BARE_TWO = "bareTwo";
  static final String FIRST = "first";
  static final String AGAIN = "again";
  static final String GET = "get";
  static final String PIPELINED = "pipelined";
  static final String GET_ALL = "getAll";
  static final String REDIS = "redis";
  static final String BARE_PUT = "barePut";
  static final String PUT = "put";
  static final String SHARE = "share";
  static final String PUT_SHARE = "putShare";
  static final String LOGIC = "logic";

  @Override
  public String name() {
    return "tcp";
  }

  @Override
  public String what() {
    return "over TCP on loopback a get takes at most 1.3 times a bare request and answer a round"
        + " trip, and an update 1.4 times, 16 gets at once do at least 5 times as much as"
        + " one at a time and 1.5 times as much as Redis, 64 connections share evenly, and"
        + " the server's logic takes no processor time";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    int objects = context.quick() ? 10_000 : OBJECTS;
    int rounds = context.roundsOr(ROUNDS, 3);
    Dataset dataset = new Dataset(objects, VALUE_BYTES);
    try (RedisServer redis =
            RedisServer.startTcp(context.children(), context.newDirectory(name()));
        RedisClient peer =
            RedisClient.connect(redis.address(), Dataset.KEY_BYTES, VALUE_BYTES, AT_ONCE);
        BareTcpChild bare = BareTcpChild.start(context.children(), context.jvm());
        ServedStore store = ServedStore.create(context, name(), DeviceChoice.TCP.serverOptions())) {
      store.load(dataset);
      loadRedis(peer, dataset);
      try (Measured measured = new Measured(context, store, dataset, bare, peer)) {
        TcpRoundTrips first = measured.countOfFirst();
        TcpRoundTrips again = measured.countOfAgain();
        context.progress().step("side by side");
        Rounds figures = measured.sideBySide(first).run(WARMUP, rounds, context.progress());
        context.progress().done("");
        return new TcpReport(figures, first, again, measured.last(rounds)).tell(context.report());
      }
    }
  }

  private static void loadRedis(RedisClient peer, Dataset dataset) {
    MemorySegment key = Arena.ofAuto().allocate(Dataset.KEY_BYTES, 8);
    for (int i = 0; i < dataset.objects(); i++) {
      key.copyFrom(MemorySegment.ofArray(Dataset.key(i)));
      peer.set(key, dataset.value(i));
    }
  }

  /**
   * The server's cost of another process's gets.
   *
   * @param logicShare of a core, of the thread with the server's logic, less an idle interval
   * @param ioNsPerGet of the thread with the sockets
   */
  record ServerCost(double getsPerSecond, double logicShare, double ioNsPerGet, long errors) {}

  /** The measured stores, and the connections. */
  private static final class Measured implements AutoCloseable {
    private static final String LOGIC_THREAD = "erda-server";
    private static final String IO_CPU = "tcp.io.cpu.ns";

    private final ServedStore store;
    private final MemorySegment[] keys;

    /** Keys that the client knows, without repetition. */
    private final MemorySegment[] met;

    private int next;
    private final int ones;
    private final double[] latencies;
    private final int many;
    private final long shareNs;
    private final BareTcpChild bare;
    private final RedisClient redis;
    private final ErdaClient client;
    private final PipelinedGets pipelined;
    private final FairShare fair;
    private final FairShare putting;
    private final MemorySegment value;
    private final LoadChild load;
    private final LoadPhase reads;
    private final MemorySegment[] group = new MemorySegment[AT_ONCE];
    private final MemorySegment[] into = new MemorySegment[AT_ONCE];
    private final long[] lengths = new long[AT_ONCE];
    private final ErdaException[] errors = new ErdaException[AT_ONCE];
    private final MemorySegment all = Arena.ofAuto().allocate((long) AT_ONCE * VALUE_BYTES, 64);
    private final List<ServerCost> costs = new ArrayList<>();
    private final List<FairShare.Shares> shares = new ArrayList<>();

    Measured(
        Context context, ServedStore store, Dataset dataset, BareTcpChild bare, RedisClient redis) {
      boolean quick = context.quick();
      this.store = store;
      this.bare = bare;
      this.redis = redis;
      this.ones = quick ? 2_000 : 20_000;
      this.latencies = new double[ones];
      this.many = quick ? 16_000 : 160_000;
      this.shareNs = quick ? 300_000_000L : 1_500_000_000L;
      this.met = Dataset.keys(IntStream.range(0, ones).toArray());
      this.keys = Dataset.keys(dataset.sequence(many, 7));
      this.client = store.connect();
      this.pipelined = new PipelinedGets(store.server().uri(), AT_ONCE, VALUE_BYTES);
      this.value = dataset.value(0);
      this.fair = FairShare.ofGets(store.server().uri(), CONNECTIONS, keys, VALUE_BYTES);
      this.putting = FairShare.ofPuts(store.server().uri(), CONNECTIONS, keys, value);
      for (int i = 0; i < AT_ONCE; i++) {
        into[i] = all.asSlice((long) i * VALUE_BYTES, VALUE_BYTES);
      }
      this.load = store.newLoad();
      context.progress().step("load YCSB's records");
      long records = dataset.objects();
      load.run(
          LoadPhase.of(true, 1, records, YcsbStore.properties("workloadc", records)), done -> {});
      context.progress().done("");
      this.reads =
          LoadPhase.of(false, 1, quick ? 5_000 : 40_000, YcsbStore.properties("workloadc", records))
              .withWarmup(1_000);
    }

    /** The requests of gets of keys that are new to the client. */
    TcpRoundTrips countOfFirst() {
      try (ErdaClient fresh = store.connect()) {
        return TcpRoundTrips.count(fresh, () -> getLatencies(fresh, met, ones));
      }
    }

    /** The requests of gets of keys that the client knows. */
    TcpRoundTrips countOfAgain() {
      for (int i = 0; i < AGAIN_WARMUPS; i++) {
        getLatencies(client, met, AGAIN_KEYS);
      }
      return TcpRoundTrips.count(client, () -> getLatencies(client, met, AGAIN_KEYS));
    }

    Rounds sideBySide(TcpRoundTrips trips) {
      return new Rounds()
          .measure(BARE_TWO, () -> bare(trips, false))
          .measure(FIRST, this::first)
          .measure(BARE_ONE, () -> bare(trips, true))
          .measure(AGAIN, this::again)
          .measure(GET, this::gets)
          .measure(PIPELINED, () -> pipelined.run(keys, many) / (double) many)
          .measure(GET_ALL, this::groups)
          .measure(REDIS, this::redis)
          .measure(BARE_PUT, this::barePut)
          .measure(PUT, this::puts)
          .measure(SHARE, this::share)
          .measure(PUT_SHARE, this::putShare)
          .measure(LOGIC, this::serverCost);
    }

    /** The costs of the last rounds, without the warm-up before them. */
    Costs last(int rounds) {
      return new Costs(
          costs.subList(costs.size() - rounds, costs.size()),
          shares.subList(shares.size() - rounds, shares.size()));
    }

    /** The median time of a get's bare round trips; all in one request if possible. */
    private double bare(TcpRoundTrips trips, boolean inOne) {
      for (int i = 0; i < ones; i++) {
        long startNs = System.nanoTime();
        if (inOne) {
          bare.roundTrip(
              trips.lookUpRequest() + trips.objectRequest(),
              trips.lookUpAnswer() + trips.objectAnswer());
        } else {
          bare.roundTrip(trips.lookUpRequest(), trips.lookUpAnswer());
          bare.roundTrip(trips.objectRequest(), trips.objectAnswer());
        }
        latencies[i] = System.nanoTime() - startNs;
      }
      return Rounds.median(latencies);
    }

    private double first() {
      try (ErdaClient fresh = store.connect()) {
        return getLatencies(fresh, met, ones);
      }
    }

    private double again() {
      getLatencies(client, met, AGAIN_KEYS);
      for (int i = 0; i < ones; i++) {
        latencies[i] = getLatency(client, met[i % AGAIN_KEYS]);
      }
      return Rounds.median(latencies);
    }

    /** The median latency of gets. */
    private double getLatencies(ErdaClient by, MemorySegment[] some, int count) {
      double[] ns = count == ones ? latencies : new double[count];
      for (int i = 0; i < count; i++) {
        ns[i] = getLatency(by, some[i]);
      }
      return Rounds.median(ns);
    }

    private long getLatency(ErdaClient by, MemorySegment key) {
      long startNs = System.nanoTime();
      get(by, key);
      return System.nanoTime() - startNs;
    }

    /** The mean of gets one at a time, of the same keys as the concurrent ones. */
    private double gets() {
      long startNs = System.nanoTime();
      for (int i = 0; i < ones; i++) {
        get(client, keys[next]);
        next = (next + 1) % many;
      }
      return (System.nanoTime() - startNs) / (double) ones;
    }

    private void get(ErdaClient by, MemorySegment key) {
      if (by.get(key, into[0]) != VALUE_BYTES) {
        throw new ProcessException("a get did not find its value");
      }
    }

    private double groups() {
      long startNs = System.nanoTime();
      for (int from = 0; from < many; from += AT_ONCE) {
        System.arraycopy(keys, from, group, 0, AT_ONCE);
        if (client.getAll(group, into, lengths, errors) > 0
            || Arrays.stream(lengths).anyMatch(length -> length != VALUE_BYTES)) {
          throw new ProcessException("a getAll did not find its values");
        }
      }
      return (System.nanoTime() - startNs) / (double) many;
    }

    private double redis() {
      long startNs = System.nanoTime();
      for (int from = 0; from < many; from += AT_ONCE) {
        if (redis.getAll(keys, from, AT_ONCE, all) != (long) AT_ONCE * VALUE_BYTES) {
          throw new ProcessException("Redis did not find its values");
        }
      }
      return (System.nanoTime() - startNs) / (double) many;
    }

    /** The median time of a bare round trip of an update's bytes. */
    private double barePut() {
      int request = TcpRoundTrips.putRequest(Dataset.KEY_BYTES, VALUE_BYTES);
      for (int i = 0; i < ones; i++) {
        long startNs = System.nanoTime();
        bare.roundTrip(request, TcpRoundTrips.putAnswer());
        latencies[i] = System.nanoTime() - startNs;
      }
      return Rounds.median(latencies);
    }

    /** The median time of an update, one at a time. */
    private double puts() {
      for (int i = 0; i < ones; i++) {
        long startNs = System.nanoTime();
        client.put(met[i], value);
        latencies[i] = System.nanoTime() - startNs;
      }
      return Rounds.median(latencies);
    }

    private double putShare() {
      return putting.run(shareNs).slowestOfMedian();
    }

    private double share() {
      FairShare.Shares came = fair.run(shareNs);
      shares.add(came);
      return came.slowestOfMedian();
    }

    private double serverCost() {
      load.prepare(reads);
      pause(200); // the server goes to sleep after the connecting
      long ioBefore = StatsFigures.figure(client.stats(), IO_CPU);
      pause(100);
      CpuTime before = store.server().cpu();
      long startNs = System.nanoTime();
      load.go();
      LoadResult result = load.result(done -> {});
      CpuTime after = store.server().cpu();
      long elapsedNs = System.nanoTime() - startNs;
      long ioNs = StatsFigures.figure(client.stats(), IO_CPU) - ioBefore;
      pause(200);
      CpuTime idleBefore = store.server().cpu();
      long idleStartNs = System.nanoTime();
      pause(500);
      double idle =
          store.server().cpu().since(idleBefore, LOGIC_THREAD)
              / (double) (System.nanoTime() - idleStartNs);
      double busy = after.since(before, LOGIC_THREAD) / (double) elapsedNs;
      costs.add(
          new ServerCost(
              result.throughputOpsPerSecond(),
              busy - idle,
              ioNs / (double) result.operations(),
              result.errors()));
      return busy - idle;
    }

    private static void pause(long ms) {
      try {
        Thread.sleep(ms);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new ProcessException("interrupted", e);
      }
    }

    @Override
    public void close() {
      load.end();
      fair.close();
      putting.close();
      pipelined.close();
      client.close();
    }
  }

  /** Further results of the rounds besides their main number. */
  record Costs(List<ServerCost> server, List<FairShare.Shares> shares) {}
}
