package io.erda.simulation.system;

import io.erda.cleaner.CleanerOptions;
import io.erda.client.ClientOptions;
import io.erda.logstore.LogGeometry;
import io.erda.protocol.PutMode;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.service.ServiceOptions;
import io.erda.simulation.NetworkModel;
import io.erda.simulation.PersistenceDomain;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.random.RandomGenerator;

/** Runs of special kinds, in which rare situations happen all the time. */
public final class Scenarios {
  private Scenarios() {}

  /**
   * Puts announce first, all of one key or two, and connections are lost in the middle of a WRITE,
   * which goes on after the server has judged the announced put; other clients read slowly
   * meanwhile.
   */
  public static Configuration lateWriters(RandomGenerator random) {
    NetworkModel network =
        NetworkModel.random(random).slowPieces().withReadsOutlivePeer(true).noticing(1 << 9);
    return new ConfigurationBuilder()
        .domain(PersistenceDomain.WHOLE_SYSTEM)
        .network(network)
        .store(
            new StoreGeometry(new LogGeometry(1, 1 << 16, 1 << 13, 8), 16)
                .withPutMode(PutMode.ANNOUNCE))
        .diskRegions(0)
        .doubles(false)
        .service(
            new ServiceOptions(
                40, 1 << 18, 1 << 13, 50_000, new CleanerOptions(4, 0, 1 << 10, 1 << 26, 1 << 26)))
        .client(new ClientOptions(Duration.ofMillis(50), Duration.ofMillis(400), null, 0, 1024, 1))
        .clients(random.nextInt(4, 8))
        .readersPercent(50)
        .keys(random.nextInt(1, 3))
        .twins(false)
        .keyBytesMax(8)
        .valueBytesMax(1 << random.nextInt(4, 11))
        .operations(random.nextInt(500, 2000))
        .pipeline(1)
        .mix(new OperationMix(60, 10, random.nextInt(40)))
        .faultGapNs(1L << random.nextInt(12, 16))
        .stepNs(64)
        .idleNs(1 << 15)
        .drainNsMax(1 << 10)
        .faults(EnumSet.of(Fault.CONNECTION_LOSS, Fault.CLIENT_CRASH))
        .build();
  }

  /**
   * A full table of keys most of which keep their value, while a few come and go: entries are
   * displaced all the time beside iterations, which must find the constant keys, READs are slow,
   * and servers die in the middle of that. Values are short, because a full log takes no puts, and
   * nothing would move.
   */
  public static Configuration displacedBesideIterations(RandomGenerator random) {
    int buckets = 1 << random.nextInt(4, 7);
    int keys = buckets + random.nextInt(14, 26);
    return new ConfigurationBuilder()
        .domain(PersistenceDomain.MEMORY_CONTROLLER)
        .network(NetworkModel.random(random).slowPieces(1 << 17))
        .store(new StoreGeometry(new LogGeometry(1, 1 << 16, 1 << 13, 4), buckets))
        .diskRegions(0)
        .doubles(false)
        .service(
            new ServiceOptions(
                40, 1 << 22, 1 << 12, 50_000, new CleanerOptions(2, 0, 1 << 10, 1 << 18, 1 << 24)))
        .client(new ClientOptions(Duration.ofMillis(50), Duration.ofMillis(200), null, 0, 1024, 2))
        .clients(4)
        .readersPercent(0)
        .keys(keys)
        .twins(false)
        .keyBytesMax(8)
        .valueBytesMax(100)
        .operations(3000)
        .pipeline(2)
        .mix(new OperationMix(45, 45, 0, buckets / 2))
        .faultGapNs(1L << random.nextInt(18, 24))
        .stepNs(128)
        .idleNs(1 << 15)
        .drainNsMax(1 << 12)
        .faults(
            EnumSet.of(
                Fault.SERVER_CRASH_IN_STORE,
                Fault.SERVER_CRASH,
                Fault.POWER_FAILURE,
                Fault.INSPECTION))
        .build();
  }

  /**
   * Keys come and go all the time: a table of two buckets grows by doubling, and is halved when
   * most are deleted. In half of the runs the hashes of the keys share bits, so that a bucket of a
   * smaller table can't hold them, and the halving turns around. Servers die in the middle of that,
   * and READs are slow.
   */
  public static Configuration tablesThatShrink(RandomGenerator random) {
    boolean shares = random.nextBoolean();
    NetworkModel network = NetworkModel.random(random);
    return new ConfigurationBuilder()
        .domain(
            random.nextBoolean()
                ? PersistenceDomain.MEMORY_CONTROLLER
                : PersistenceDomain.WHOLE_SYSTEM)
        .network(random.nextBoolean() ? network.slowPieces(1 << 16) : network)
        .store(
            new StoreGeometry(new LogGeometry(1, 1 << 17, 1 << 13, 6), 1L << random.nextInt(1, 4)))
        .diskRegions(0)
        .doubles(true)
        .service(
            new ServiceOptions(
                40, 1 << 22, 1 << 12, 50_000, new CleanerOptions(2, 0, 1 << 10, 1 << 18, 1 << 24)))
        .client(new ClientOptions(Duration.ofMillis(50), Duration.ofMillis(200), null, 0, 1024, 2))
        .clients(4)
        .readersPercent(0)
        .keys(random.nextInt(30, 60))
        .twins(false)
        .keyBytesMax(8)
        .valueBytesMax(64)
        .operations(3000)
        .pipeline(2)
        .mix(new OperationMix(55, 5, 0, 0, random.nextInt(2, 6), shares ? random.nextInt(4, 7) : 0))
        .faultGapNs(1L << random.nextInt(18, 23))
        .stepNs(128)
        .idleNs(1 << 15)
        .drainNsMax(1 << 12)
        .faults(
            EnumSet.of(
                Fault.SERVER_CRASH_IN_STORE,
                Fault.SERVER_CRASH_IN_RECOVERY,
                Fault.SERVER_CRASH,
                Fault.SERVER_STOP,
                Fault.POWER_FAILURE,
                Fault.CLIENT_CRASH,
                Fault.INSPECTION))
        .build();
  }

  /**
   * Clients with several puts under way lose their connections all the time, while batches wait for
   * the device, which fails now and then: the reported outcome of each put must be right.
   */
  public static Configuration leavingInTheMiddle(RandomGenerator random) {
    return new ConfigurationBuilder()
        .domain(PersistenceDomain.MEMORY_CONTROLLER)
        .network(NetworkModel.random(random).noticing(1 << random.nextInt(9, 18)))
        .store(new StoreGeometry(new LogGeometry(2, 1 << 16, 1 << 13, 8), 16))
        .diskRegions(0)
        .doubles(false)
        .service(
            new ServiceOptions(
                40, 1 << 22, 1 << 12, 50_000, new CleanerOptions(2, 0, 1 << 10, 1 << 18, 1 << 24)))
        .client(new ClientOptions(Duration.ofMillis(50), Duration.ofMillis(200), null, 0, 1024, 3))
        .clients(3)
        .readersPercent(0)
        .keys(random.nextInt(2, 6))
        .twins(false)
        .keyBytesMax(8)
        .valueBytesMax(64)
        .operations(3000)
        .pipeline(3)
        .mix(new OperationMix(60, 10, 0))
        .faultGapNs(1L << random.nextInt(15, 19))
        .stepNs(64)
        .idleNs(1 << 15)
        .drainNsMax(1 << 12)
        .drainFailedOdds(random.nextInt(4) == 0 ? 1 : 8)
        .faults(
            EnumSet.of(
                Fault.CONNECTION_LOSS,
                Fault.CLIENT_CLOSE,
                Fault.COMPLETIONS_DELAYED,
                Fault.DRAIN_FAILED))
        .build();
  }

  /**
   * Stores are embedded, and their clients commit updates of a few keys beside each other, while
   * regions are cleaned and reused, leases end, tables are doubled and halved, and processes end in
   * the middle of a commit.
   */
  public static Configuration committing(RandomGenerator random) {
    boolean tides = random.nextBoolean();
    PersistenceDomain[] domains = {
      PersistenceDomain.PAGE_CACHE,
      PersistenceDomain.MEMORY_HIERARCHY,
      PersistenceDomain.WHOLE_SYSTEM
    };
    ConfigurationBuilder builder =
        new ConfigurationBuilder()
            .domain(domains[random.nextInt(domains.length)])
            .network(NetworkModel.random(random));
    smallRegions(builder, tides, random).clients(2);
    return fewKeys(builder, tides, random)
        .operations(3000)
        .pipeline(random.nextInt(1, 3))
        .mix(new OperationMix(65, 15, 0, 0, tides ? random.nextInt(2, 6) : 0, 0))
        .faultGapNs(1L << random.nextInt(19, 24))
        .stepNs(1L << random.nextInt(6, 11))
        .idleNs(1 << 15)
        .drainNsMax(1 << 12)
        .embeddedOdds(1)
        .faults(
            EnumSet.of(
                Fault.EMBEDDED_OPENING,
                Fault.SERVER_CRASH,
                Fault.SERVER_CRASH_IN_STORE,
                Fault.SERVER_STOP,
                Fault.SERVER_PAUSE,
                Fault.POWER_FAILURE,
                Fault.INSPECTION))
        .build();
  }

  /**
   * Clients of other processes commit updates of a few keys by themselves, between two steps of the
   * server, and are stopped or killed in the middle of that, while regions are cleaned and reused,
   * leases end, tables are doubled and halved, and servers end and begin.
   */
  public static Configuration committingOutside(RandomGenerator random) {
    boolean tides = random.nextBoolean();
    ConfigurationBuilder builder =
        new ConfigurationBuilder()
            .domain(PersistenceDomain.PAGE_CACHE)
            .network(NetworkModel.random(random).withReadsOutlivePeer(true));
    smallRegions(builder, tides, random).clients(random.nextInt(2, 5));
    return fewKeys(builder, tides, random)
        .operations(2500)
        .pipeline(random.nextInt(1, 3))
        .mix(new OperationMix(65, 15, 0, 0, tides ? random.nextInt(2, 6) : 0, 0))
        .faultGapNs(1L << random.nextInt(19, 25))
        .stepNs(1L << random.nextInt(6, 11))
        .idleNs(1 << 15)
        .drainNsMax(1 << 12)
        .embeddedOdds(8)
        .clientsCommit(true)
        .faults(
            EnumSet.of(
                Fault.EMBEDDED_OPENING,
                Fault.SERVER_CRASH,
                Fault.SERVER_CRASH_IN_STORE,
                Fault.SERVER_CRASH_IN_RECOVERY,
                Fault.SERVER_STOP,
                Fault.SERVER_PAUSE,
                Fault.CONNECTION_LOSS,
                Fault.CLIENT_CRASH,
                Fault.STORE_OF_THE_LEFT,
                Fault.CLIENT_CLOSE,
                Fault.INSPECTION))
        .build();
  }

  /** A store whose regions are cleaned and used again many times in a run. */
  private static ConfigurationBuilder smallRegions(
      ConfigurationBuilder builder, boolean tides, RandomGenerator random) {
    return builder
        .store(
            new StoreGeometry(
                new LogGeometry(
                    random.nextInt(1, 3),
                    1 << 16,
                    1 << random.nextInt(12, 14),
                    random.nextInt(5, 9)),
                1L << random.nextInt(1, 5)))
        .diskRegions(0)
        .doubles(tides)
        .service(
            new ServiceOptions(
                40,
                1L << random.nextInt(14, 22),
                1 << 13,
                50_000,
                new CleanerOptions(4, 0, 1 << 10, 1 << 26, 1 << 26)))
        .client(new ClientOptions(Duration.ofMillis(50), Duration.ofMillis(200), null, 0, 1024, 1));
  }

  /** Few keys, so that clients meet at each of them; more of them where tables grow and shrink. */
  private static ConfigurationBuilder fewKeys(
      ConfigurationBuilder builder, boolean tides, RandomGenerator random) {
    return builder
        .readersPercent(0)
        .keys(tides ? random.nextInt(20, 40) : random.nextInt(2, 9))
        .twins(random.nextInt(4) == 0)
        .keyBytesMax(8)
        .valueBytesMax(1 << random.nextInt(4, 12));
  }

  /**
   * Servers are killed while their clients live on, and another process opens the store now and
   * then.
   */
  static Configuration leftBehind(RandomGenerator random) {
    return reusedRegions(
        random,
        3000,
        1 << 20,
        EnumSet.of(Fault.SERVER_CRASH, Fault.EMBEDDED_OPENING, Fault.STORE_OF_THE_LEFT));
  }

  /** Regions are cleaned and reused all the time, and stores take long to land. */
  public static Configuration reusedRegions(
      RandomGenerator random, int operations, long faultGapNs, Set<Fault> faults) {
    return new ConfigurationBuilder()
        .domain(PersistenceDomain.WHOLE_SYSTEM)
        .network(NetworkModel.random(random).slowPieces().withReadsOutlivePeer(true))
        .store(new StoreGeometry(new LogGeometry(1, 1 << 16, 1 << 13, 6), 64))
        .diskRegions(0)
        .doubles(false)
        .service(
            new ServiceOptions(
                40, 1 << 18, 1 << 13, 50_000, new CleanerOptions(4, 0, 1 << 10, 1 << 26, 1 << 26)))
        .client(new ClientOptions(Duration.ofMillis(50), Duration.ofMillis(400), null, 0, 1024, 2))
        .clients(4)
        .readersPercent(0)
        .keys(12)
        .twins(false)
        .keyBytesMax(16)
        .valueBytesMax(3000)
        .operations(operations)
        .pipeline(2)
        .mix(new OperationMix(60, 5, 0))
        .faultGapNs(faultGapNs)
        .stepNs(256)
        .idleNs(1 << 15)
        .drainNsMax(1 << 10)
        .faults(faults)
        .build();
  }
}
