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
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * The configuration of one run: the system, the operations and the faults.
 *
 * @param domain of the server's memory; power fails only if the store promises to survive it
 * @param diskRegions files of regions that the disk has room for; 0: no limit
 * @param doubles whether servers may double the table; then half of them do
 * @param clients at a time
 * @param readersPercent of the clients that only get, while another one writes
 * @param keys that all clients use
 * @param twins whether keys share key words, two and two: then they are {@link TwinKeys#KEY_BYTES}
 *     long
 * @param keyBytesMax and {@code valueBytesMax} longest; for keys only without twins
 * @param operations in total
 * @param pipeline operations of a client in flight at most
 * @param mix of operations
 * @param faultGapNs average time between two faults; 0 = none
 * @param stepNs of a step with work
 * @param idleNs between steps without work
 * @param drainNsMax the longest time of a drain; it may also take none
 * @param drainFailedOdds under one opening in so many a drain fails, where drains may fail
 * @param embeddedOdds one opening in so many is an embedded store's, where such may happen
 * @param clientsCommit whether clients of other processes commit by themselves
 * @param faults that may happen
 */
public record Configuration(
    PersistenceDomain domain,
    NetworkModel network,
    StoreGeometry store,
    int diskRegions,
    boolean doubles,
    ServiceOptions service,
    ClientOptions client,
    int clients,
    int readersPercent,
    int keys,
    boolean twins,
    int keyBytesMax,
    int valueBytesMax,
    int operations,
    int pipeline,
    OperationMix mix,
    long faultGapNs,
    long stepNs,
    long idleNs,
    long drainNsMax,
    int drainFailedOdds,
    int embeddedOdds,
    boolean clientsCommit,
    Set<Fault> faults) {
  private static final int KEY_OPERATIONS_MAX = 12;
  private static final int READERS_PERCENT = 50;

  /** In one of so many runs puts announce first. */
  private static final int ANNOUNCE_ODDS = 5;

  /** One in so many of these has writers whose stores land late. */
  private static final int LATE_WRITERS_ODDS = 4;

  /** In one of so many of the other runs clients leave in the middle. */
  private static final int LEAVING_ODDS = 10;

  /** In one of so many of the other runs keys come and go, and tables shrink. */
  private static final int SHRINKING_ODDS = 15;

  /**
   * In one of so many of the other runs clients of embedded stores commit, and in one of so many of
   * those that remain clients of other processes do.
   */
  private static final int COMMITTING_ODDS = 15;

  /** In one of so many of the remaining runs entries are displaced beside iterations. */
  private static final int ITERATED_ODDS = 15;

  /** One in so many runs; they take longer than the others. */
  private static final int LEFT_BEHIND_ODDS = 24;

  /** The kind of problems that a run looks for. */
  private enum Shape {
    /** Several clients, few keys, many operations. */
    CONTENDED,
    /** A tiny table that fills up with keys: entries are displaced. */
    CROWDED,
    /** A tiny log: full, and entries are emptied. */
    FULL,
    /** A small log and many keys: regions with many live objects are cleaned. */
    CLEANED,
    /**
     * A table just large enough, and keys that come and go: entries move all along, while READs
     * take their time.
     */
    MOVING,
    /** All of them. */
    MIXED
  }

  /** Draws a configuration. */
  public static Configuration random(RandomGenerator random) {
    return random.nextInt(LEFT_BEHIND_ODDS) == 0 ? Scenarios.leftBehind(random) : shaped(random);
  }

  /**
   * The configuration of a seed: as {@link #random} draws it; in one run of some the puts announce
   * first, in one of some clients leave in the middle, in one of some keys come and go, so that
   * tables shrink, in one of some clients of embedded stores commit, in one of some those of other
   * processes do, and in one of some entries are displaced beside iterations. These are drawn
   * independently, so that all other seeds keep their configuration.
   */
  public static Configuration ofSeed(long seed) {
    Configuration drawn = random(new SplittableRandom(seed ^ 0x5EED_C0DEL));
    SplittableRandom beside = new SplittableRandom(seed ^ 0xA0_0CEDL);
    boolean announces = beside.nextInt(ANNOUNCE_ODDS) == 0;
    if (announces && beside.nextInt(LATE_WRITERS_ODDS) == 0) {
      return Scenarios.lateWriters(beside);
    }
    if (announces) {
      return drawn.announcing();
    }
    SplittableRandom leaving = new SplittableRandom(seed ^ 0x1EAFE7L);
    if (leaving.nextInt(LEAVING_ODDS) == 0) {
      return Scenarios.leavingInTheMiddle(leaving);
    }
    SplittableRandom shrinking = new SplittableRandom(seed ^ 0x5B21_4B5L);
    if (shrinking.nextInt(SHRINKING_ODDS) == 0) {
      return Scenarios.tablesThatShrink(shrinking);
    }
    SplittableRandom committing = new SplittableRandom(seed ^ 0xC0_3317L);
    if (committing.nextInt(COMMITTING_ODDS) == 0) {
      return Scenarios.committing(committing);
    }
    SplittableRandom outside = new SplittableRandom(seed ^ 0xC0_3317_0075L);
    if (outside.nextInt(COMMITTING_ODDS) == 0) {
      return Scenarios.committingOutside(outside);
    }
    SplittableRandom iterated = new SplittableRandom(seed ^ 0x17E2A7EDL);
    return iterated.nextInt(ITERATED_ODDS) == 0
        ? Scenarios.displacedBesideIterations(iterated)
        : drawn;
  }

  /** A copy whose puts announce first, so that the store promises nothing about power failures. */
  public Configuration announcing() {
    Set<Fault> fewer = EnumSet.copyOf(faults);
    fewer.removeAll(EnumSet.of(Fault.PROMISE_RAISED, Fault.PROMISE_GIVEN_UP));
    return new ConfigurationBuilder(this)
        .store(store.withPutMode(PutMode.ANNOUNCE))
        .faults(fewer)
        .build();
  }

  /** Whether puts announce first. */
  boolean announces() {
    return store.putMode() == PutMode.ANNOUNCE;
  }

  private static Configuration shaped(RandomGenerator random) {
    Shape shape =
        switch (random.nextInt(14)) {
          case 0, 1, 2 -> Shape.CONTENDED;
          case 3, 4, 5 -> Shape.CROWDED;
          case 6, 7 -> Shape.FULL;
          case 8, 9 -> Shape.CLEANED;
          case 10, 11 -> Shape.MOVING;
          default -> Shape.MIXED;
        };
    boolean crowd = shape == Shape.CONTENDED || shape == Shape.MOVING;
    int clients = crowd ? random.nextInt(3, 7) : random.nextInt(1, 7);
    StoreGeometry store = store(shape, random);
    int keys =
        switch (shape) {
          case CROWDED -> random.nextInt(22, 36);
          // With few keys operations conflict, many keep a log full of live objects.
          case CLEANED -> random.nextInt(9, 65);
          case MOVING -> (int) store.buckets() + random.nextInt(12, 24);
          case CONTENDED, FULL, MIXED -> random.nextInt(1, 9);
        };
    // Not more open operations of one key than the checker decides easily: when a head waits for
    // space, all open operations may be of one key.
    int pipeline = Math.clamp(KEY_OPERATIONS_MAX / clients, 1, random.nextInt(1, 5));
    return new ConfigurationBuilder()
        .domain(domain(random))
        .network(network(shape, random))
        .store(store)
        .diskRegions(diskRegions(shape, store, random))
        .doubles(shape != Shape.MOVING)
        .service(
            new ServiceOptions(
                // Lost connections count until the server notices.
                Math.max(random.nextInt(8, 40), 3 * clients),
                1L << random.nextInt(18, 27),
                1 << random.nextInt(10, 14),
                50_000,
                random.nextInt(8) == 0
                    ? CleanerOptions.NEVER
                    : new CleanerOptions(
                        random.nextInt(1, 9),
                        random.nextBoolean() ? 0 : random.nextInt(10, 91),
                        1L << random.nextInt(10, 23),
                        1L << random.nextInt(10, 26),
                        1L << random.nextInt(20, 27))))
        .client(
            new ClientOptions(
                Duration.ofMillis(50),
                Duration.ofMillis(200),
                null,
                0,
                64 << random.nextInt(5),
                pipeline))
        .clients(clients)
        .readersPercent(random.nextBoolean() ? 0 : READERS_PERCENT)
        .keys(keys)
        .twins(random.nextInt(4) == 0)
        .keyBytesMax(random.nextBoolean() ? 8 : random.nextInt(1, 200))
        .valueBytesMax(valueBytes(shape, random))
        .operations(operations(shape, random))
        .pipeline(pipeline)
        .mix(mix(shape, random))
        .faultGapNs(random.nextInt(16) == 0 ? 0 : 1L << random.nextInt(gapShift(shape), 22))
        .stepNs(1L << random.nextInt(6, 11))
        .idleNs(1L << random.nextInt(15, 19))
        .drainNsMax(random.nextInt(3) > 0 ? 1L << 12 : 1L << random.nextInt(13, 21))
        .faults(EnumSet.allOf(Fault.class))
        .build();
  }

  /** In every fourth run some puts and deletes have a condition. */
  private static OperationMix mix(Shape shape, RandomGenerator random) {
    int puts = shape == Shape.MOVING ? random.nextInt(15, 40) : random.nextInt(10, 70);
    int deletes =
        shape == Shape.FULL || shape == Shape.MOVING
            ? random.nextInt(10, 30)
            : random.nextInt(0, 25);
    return new OperationMix(puts, deletes, random.nextInt(4) == 0 ? random.nextInt(10, 91) : 0);
  }

  /** When entries move, most networks make READs overlap the moves. */
  private static NetworkModel network(Shape shape, RandomGenerator random) {
    NetworkModel network =
        random.nextInt(4) == 0 ? NetworkModel.PAPERS : NetworkModel.random(random);
    return shape == Shape.MOVING && random.nextInt(4) > 0 ? network.slowPieces() : network;
  }

  private static int gapShift(Shape shape) {
    return switch (shape) {
      case CONTENDED, MOVING -> 18;
      case CROWDED -> 15;
      case FULL, CLEANED, MIXED -> 16;
    };
  }

  private static int valueBytes(Shape shape, RandomGenerator random) {
    return switch (shape) {
      case CLEANED ->
          random.nextInt(3) == 0 ? 1 << random.nextInt(4, 12) : random.nextInt(256, 3000);
      case FULL -> 1 << random.nextInt(8, 12);
      case MOVING -> 1 << random.nextInt(9, 12);
      case CONTENDED, CROWDED, MIXED -> 1 << random.nextInt(4, 12);
    };
  }

  private static int operations(Shape shape, RandomGenerator random) {
    return switch (shape) {
      case CONTENDED, MOVING -> random.nextInt(1000, 3000);
      case CROWDED -> random.nextInt(60, 400);
      case CLEANED -> 1 << random.nextInt(8, 13);
      case FULL, MIXED -> 1 << random.nextInt(5, 11);
    };
  }

  /**
   * When the log is cleaned often, a third of the runs have a disk that is smaller than the log.
   */
  private static int diskRegions(Shape shape, StoreGeometry store, RandomGenerator random) {
    int regions = store.geometry().regionsMax();
    boolean cleaned = shape == Shape.CLEANED || shape == Shape.FULL;
    return cleaned && random.nextInt(3) == 0 ? random.nextInt(1, regions + 1) : 0;
  }

  /**
   * Half of the runs use the domain in which most can be lost: memory whose caches are not durable.
   */
  private static PersistenceDomain domain(RandomGenerator random) {
    PersistenceDomain[] domains = PersistenceDomain.values();
    return random.nextBoolean()
        ? PersistenceDomain.MEMORY_CONTROLLER
        : domains[random.nextInt(domains.length)];
  }

  private static StoreGeometry store(Shape shape, RandomGenerator random) {
    if (shape == Shape.CLEANED) {
      // Small enough that most runs overwrite their log more than once.
      int heads = 1 << random.nextInt(3);
      LogGeometry geometry =
          new LogGeometry(
              heads,
              1L << random.nextInt(16, 18),
              1 << random.nextInt(12, 15),
              heads + random.nextInt(1, 6));
      return new StoreGeometry(geometry, 1L << random.nextInt(1, 8));
    }
    if (shape == Shape.MOVING) {
      // One head and small regions, which are cleaned often, so that deleted keys' entries are
      // emptied.
      LogGeometry geometry = new LogGeometry(1, 1L << 16, 1 << 13, random.nextInt(2, 4));
      return new StoreGeometry(geometry, 1L << random.nextInt(3, 6));
    }
    boolean small = shape == Shape.FULL;
    int segmentBytes = 1 << random.nextInt(12, small ? 14 : 15);
    LogGeometry geometry =
        new LogGeometry(
            1 << random.nextInt(small ? 2 : 3),
            1L << random.nextInt(16, small ? 17 : 19),
            segmentBytes,
            small ? random.nextInt(1, 4) : random.nextInt(2, 10));
    int buckets = shape == Shape.CROWDED ? random.nextInt(2, 5) : random.nextInt(1, 8);
    return new StoreGeometry(geometry, 1L << buckets);
  }

  /** A copy with fewer of these. */
  Configuration with(int fewerClients, int fewerKeys, int fewerOperations, int shorterPipeline) {
    return new ConfigurationBuilder(this)
        .clients(fewerClients)
        .keys(fewerKeys)
        .operations(fewerOperations)
        .pipeline(shorterPipeline)
        .build();
  }

  /** A copy with another {@link #mix}. */
  Configuration withMix(OperationMix other) {
    return new ConfigurationBuilder(this).mix(other).build();
  }

  /** A copy with other {@link #faults}. */
  Configuration withFaults(Set<Fault> others) {
    return new ConfigurationBuilder(this).faults(others).build();
  }

  /** A copy with another store and more keys. */
  Configuration withStore(StoreGeometry other, int moreKeys) {
    return new ConfigurationBuilder(this).store(other).keys(moreKeys).build();
  }
}
