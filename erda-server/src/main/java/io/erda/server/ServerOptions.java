package io.erda.server;

import io.erda.cleaner.CleanerOptions;
import io.erda.logstore.LogGeometry;
import io.erda.protocol.Promise;
import io.erda.protocol.PutMode;
import io.erda.rdma.shm.ShmDevice;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.files.StoreWishes;
import java.util.List;

/**
 * How to create and serve a store. Begin with {@link #DEFAULTS}, and change it by the {@code with…}
 * methods. Immutable.
 *
 * <p>{@code heads}, {@code regionBytes}, {@code segmentBytes} and {@code putMode} are fixed when
 * the store is created; opening an existing store with another value fails. A different {@code
 * capacityBytes} is applied; different {@code buckets}, and a {@code bucketsMax} below the number
 * that the store has, have no effect, and are mentioned in the notes of the opening.
 */
public final class ServerOptions {
  /** 64 MiB regions of 8 MiB segments, 16 GiB of log, 262,144 buckets, 50 µs of polling. */
  public static final ServerOptions DEFAULTS = new ServerOptions();

  private static final long CAPACITY_DEFAULT = 16L << 30;
  private static final long BUCKETS_DEFAULT = 1L << 18;
  private static final long HEAD_BYTES_MAX = 16L << 30;
  private static final int HEADS_MAX = 256;

  /**
   * The least number of regions by default: enough that cleaning can choose, and few enough that
   * each region is used for long.
   */
  private static final int REGIONS_MIN = 16;

  /** The number of regions by default, if the log is large enough. */
  private static final int REGIONS_DEFAULT = 256;

  /**
   * The default region size is not reduced below this to get more regions: a region of this size
   * has eight segments.
   */
  private static final long REGION_BYTES_ENOUGH = 64L << 20;

  /** The device must also register the root and the tables. */
  private static final int REGIONS_MAX =
      ShmDevice.REGIONS_MAX - StoreGeometry.REGISTRATIONS_BESIDE_LOG;

  private int heads;

  /** The bytes of a region; 0: chosen by the capacity. */
  private long regionBytes;

  /** The bytes of a segment; 0: chosen by the region. */
  private int segmentBytes;

  /** 0: not chosen. */
  private long capacityBytes;

  /** 0: not chosen. */
  private long buckets;

  private long bucketsMax = StoreGeometry.BUCKETS_MAX;
  private Promise promise;
  private PutMode putMode;
  private int pollingNs = 50_000;
  private int connectionsMax = 1024;
  private Quotas quotas = Quotas.DEFAULTS;
  private boolean counted;
  private boolean timed;
  private Committers commits = Committers.NONE;
  private int writeLatencyNs;
  private boolean cleaning = true;
  private int livePercent = CleanerOptions.DEFAULT.livePercent();
  private int mode = StoreAccess.UNSAID;
  private String group;
  private List<Listening> listening = List.of();
  private System.Logger log;

  private ServerOptions() {}

  /** A copy, in which one field is changed before it is published. */
  private ServerOptions(ServerOptions other) {
    heads = other.heads;
    regionBytes = other.regionBytes;
    segmentBytes = other.segmentBytes;
    capacityBytes = other.capacityBytes;
    buckets = other.buckets;
    bucketsMax = other.bucketsMax;
    promise = other.promise;
    putMode = other.putMode;
    pollingNs = other.pollingNs;
    connectionsMax = other.connectionsMax;
    quotas = other.quotas;
    counted = other.counted;
    timed = other.timed;
    commits = other.commits;
    writeLatencyNs = other.writeLatencyNs;
    cleaning = other.cleaning;
    livePercent = other.livePercent;
    mode = other.mode;
    group = other.group;
    listening = other.listening;
    log = other.log;
  }

  /** Heads of the log, 1…256; 0: as many as the capacity needs. */
  public int heads() {
    return heads;
  }

  /** A copy with another {@link #heads}. */
  public ServerOptions withHeads(int value) {
    ServerOptions copy = new ServerOptions(this);
    copy.heads = value;
    return copy;
  }

  /**
   * The bytes of a region, a power of two, 64 KiB … 1 GiB. The default is 64 MiB. It is less when
   * the capacity does not hold {@value #REGIONS_MIN} such regions, or one more than there are
   * {@link #heads}, and more when the capacity holds more than {@value #REGIONS_DEFAULT}. A store
   * takes space in whole regions, at least one for each head, and one into which cleaning copies.
   */
  public long regionBytes() {
    if (regionBytes != 0) {
      return regionBytes;
    }
    long most = Long.highestOneBit(Math.max(1, capacityBytes() / REGIONS_MIN));
    long some = Long.highestOneBit(Math.max(1, capacityBytes() / REGIONS_DEFAULT));
    // The largest region size with which the capacity holds one region more than there are heads.
    long forHeads = Long.highestOneBit(Math.max(1, capacityBytes() / (Math.max(1L, heads) + 1)));
    return Math.clamp(
        Math.min(forHeads, Math.max(some, Math.min(most, REGION_BYTES_ENOUGH))),
        LogGeometry.REGION_BYTES_MIN,
        LogGeometry.REGION_BYTES_MAX);
  }

  /** A copy with another {@link #regionBytes}. */
  public ServerOptions withRegionBytes(long value) {
    ServerOptions copy = new ServerOptions(this);
    copy.regionBytes = value;
    return copy;
  }

  /**
   * The bytes of a segment, a power of two, 4 KiB … 16 MiB. No object is longer than a segment. The
   * default is 8 MiB, or the size of a region when that is smaller.
   */
  public int segmentBytes() {
    return segmentBytes != 0
        ? segmentBytes
        : (int) Math.min(LogGeometry.SEGMENT_BYTES_DEFAULT, regionBytes());
  }

  /** A copy with another {@link #segmentBytes}. */
  public ServerOptions withSegmentBytes(int value) {
    ServerOptions copy = new ServerOptions(this);
    copy.segmentBytes = value;
    return copy;
  }

  /**
   * The bytes to which the log may grow, at least one region. A head can address 16 GiB. An
   * existing store keeps its capacity unless another one was chosen. The capacity can be raised as
   * far as the store's heads can address, and lowered to the space that its files take.
   */
  public long capacityBytes() {
    return capacityBytes == 0 ? CAPACITY_DEFAULT : capacityBytes;
  }

  /**
   * A copy with another {@link #capacityBytes}.
   *
   * @throws IllegalArgumentException when it is less than 1
   */
  public ServerOptions withCapacityBytes(long value) {
    requirePositive("capacity", value);
    ServerOptions copy = new ServerOptions(this);
    copy.capacityBytes = value;
    return copy;
  }

  /**
   * The initial number of buckets of the hash table, a power of two. The table doubles by itself
   * when half of the buckets are taken; twice the expected number of keys avoids that.
   */
  public long buckets() {
    return buckets == 0 ? BUCKETS_DEFAULT : buckets;
  }

  /**
   * A copy with another {@link #buckets}.
   *
   * @throws IllegalArgumentException when it is less than 1
   */
  public ServerOptions withBuckets(long value) {
    requirePositive("buckets", value);
    ServerOptions copy = new ServerOptions(this);
    copy.buckets = value;
    return copy;
  }

  /**
   * The most buckets to which the hash table is doubled. An existing larger table stays as it is.
   */
  public long bucketsMax() {
    return bucketsMax;
  }

  /** A copy with another {@link #bucketsMax}. */
  public ServerOptions withBucketsMax(long value) {
    ServerOptions copy = new ServerOptions(this);
    copy.bucketsMax = value;
    return copy;
  }

  /**
   * The failures that an acknowledged put must survive from now on; null for the present promise of
   * the store. With null a new store makes the strongest promise that its files keep without being
   * synchronised. With {@link Promise#POWER} ordinary files are synchronised at every put. This
   * promise is recorded, and holds for the whole store until the store is opened with {@link
   * Promise#PROCESS}; from then on a power failure may damage the store and lose puts of any age.
   * Files in memory (tmpfs, ramfs) can't keep {@link Promise#POWER}.
   */
  public Promise promise() {
    return promise;
  }

  /** A copy with another {@link #promise}. */
  public ServerOptions withPromise(Promise value) {
    ServerOptions copy = new ServerOptions(this);
    copy.promise = value;
    return copy;
  }

  /**
   * The way in which an object becomes the newest version of its key; null for the present mode of
   * the store. With null a new store is created with {@link PutMode#PUBLISH}. With {@link
   * PutMode#ANNOUNCE}, the put of the Erda paper, a store promises only {@link Promise#ATOMIC}.
   * Opening a store that has the other mode fails.
   */
  public PutMode putMode() {
    return putMode;
  }

  /** A copy with another {@link #putMode}. */
  public ServerOptions withPutMode(PutMode value) {
    ServerOptions copy = new ServerOptions(this);
    copy.putMode = value;
    return copy;
  }

  /**
   * Which clients commit updates and deletes by themselves; none by default. Has no effect on a
   * store that promises power, or whose puts announce first, and none on an embedded store, whose
   * clients do so in any case, nor on a server that times its steps.
   */
  public Committers commits() {
    return commits;
  }

  /** A copy with another {@link #commits}. */
  public ServerOptions withCommits(Committers value) {
    ServerOptions copy = new ServerOptions(this);
    copy.commits = value;
    return copy;
  }

  /** How long an idle server polls before it sleeps. */
  public int pollingNs() {
    return pollingNs;
  }

  /** A copy with another {@link #pollingNs}. */
  public ServerOptions withPollingNs(int value) {
    ServerOptions copy = new ServerOptions(this);
    copy.pollingNs = value;
    return copy;
  }

  /** The most clients at a time. {@link #quotas} limits the number of clients of one user. */
  public int connectionsMax() {
    return connectionsMax;
  }

  /** A copy with another {@link #connectionsMax}. */
  public ServerOptions withConnectionsMax(int value) {
    ServerOptions copy = new ServerOptions(this);
    copy.connectionsMax = value;
    return copy;
  }

  /** Limits for each client and each user. */
  public Quotas quotas() {
    return quotas;
  }

  /** A copy with other {@link #quotas}. */
  public ServerOptions withQuotas(Quotas value) {
    ServerOptions copy = new ServerOptions(this);
    copy.quotas = value;
    return copy;
  }

  /**
   * Whether to count the bytes of memory that a store to memory really changes, which costs a
   * comparison at every such store.
   */
  public boolean counted() {
    return counted;
  }

  /** A copy with another {@link #counted}. */
  public ServerOptions withCounted(boolean value) {
    ServerOptions copy = new ServerOptions(this);
    copy.counted = value;
    return copy;
  }

  /**
   * Whether the server has the figure {@code server.work.ns}: the time of all steps that did work.
   * Timing slows a server down a little.
   */
  public boolean timed() {
    return timed;
  }

  /** A copy with another {@link #timed}. */
  public ServerOptions withTimed(boolean value) {
    ServerOptions copy = new ServerOptions(this);
    copy.timed = value;
    return copy;
  }

  /** Extra latency of every drained cache line, to model persistent memory; 0: none. */
  public int writeLatencyNs() {
    return writeLatencyNs;
  }

  /** A copy with another {@link #writeLatencyNs}. */
  public ServerOptions withWriteLatencyNs(int value) {
    ServerOptions copy = new ServerOptions(this);
    copy.writeLatencyNs = value;
    return copy;
  }

  /**
   * Whether the log is cleaned: automatically when it is large for its live bytes or runs full, and
   * on request.
   */
  public boolean cleaning() {
    return cleaning;
  }

  /** A copy with another {@link #cleaning}. */
  public ServerOptions withCleaning(boolean value) {
    ServerOptions copy = new ServerOptions(this);
    copy.cleaning = value;
    return copy;
  }

  /**
   * The percentage of the log's files that should be live, 1 to 90 %, apart from one region for
   * each head. The log is cleaned until this is reached. A higher percentage takes less space and
   * more copying. 0: the log is cleaned only when it has filled its capacity.
   */
  public int livePercent() {
    return livePercent;
  }

  /**
   * A copy with another {@link #livePercent}.
   *
   * @throws IllegalArgumentException when it is out of range
   */
  public ServerOptions withLivePercent(int value) {
    CleanerOptions.DEFAULT.withLivePercent(value);
    ServerOptions copy = new ServerOptions(this);
    copy.livePercent = value;
    return copy;
  }

  /**
   * The mode of the store's directory, which decides who may use the store. 0700: only its owner;
   * 0770: its group too; 0777: all users; 0750: the owner, and the group may only read the store's
   * files; 0755: the owner, and all users may only read them. 0: the mode of the previous opening;
   * for a new store 0700.
   */
  public int mode() {
    return mode;
  }

  /**
   * A copy with another {@link #mode}.
   *
   * @throws IllegalArgumentException when it is none of the five modes
   */
  public ServerOptions withMode(int value) {
    StoreAccess.requireMode(value);
    ServerOptions copy = new ServerOptions(this);
    copy.mode = value;
    return copy;
  }

  /** The group to which the store is given, by name or number; null: the store keeps its group. */
  public String group() {
    return group;
  }

  /** A copy with another {@link #group}. */
  public ServerOptions withGroup(String value) {
    ServerOptions copy = new ServerOptions(this);
    copy.group = value;
    return copy;
  }

  /** The addresses at which the store is served in addition to shared memory. */
  public List<Listening> listening() {
    return listening;
  }

  /** A copy with another {@link #listening}. */
  public ServerOptions withListening(List<Listening> value) {
    ServerOptions copy = new ServerOptions(this);
    copy.listening = List.copyOf(value);
    return copy;
  }

  /** The logger for the server's events, one line for each event; null: no log. */
  public System.Logger log() {
    return log;
  }

  /**
   * A copy with another {@link #log}. A separate thread calls the logger, never the server's
   * thread. When the logger throws, the line is lost. An {@link ErdaStore} has no log.
   */
  public ServerOptions withLog(System.Logger value) {
    ServerOptions copy = new ServerOptions(this);
    copy.log = value;
    return copy;
  }

  private static String inWords(long count, String what) {
    return count + " " + what + (count == 1 ? "" : "s");
  }

  private static void requirePositive(String what, long value) {
    if (value < 1) {
      throw new IllegalArgumentException(what + " must be at least 1: " + value);
    }
  }

  /** Returns the wishes with which an existing store is compared. */
  StoreWishes wishes() {
    return new StoreWishes(
        heads, regionBytes, segmentBytes, capacityBytes, REGIONS_MAX, buckets, bucketsMax, putMode);
  }

  /**
   * The log's geometry.
   *
   * @throws IllegalArgumentException naming the option and its bounds
   */
  LogGeometry geometry() {
    long capacity = capacityBytes();
    long region = regionBytes();
    if (capacity < region) {
      throw new IllegalArgumentException(
          "capacity of "
              + capacity
              + " bytes is less than one region of "
              + region
              + ": make it larger, or regions smaller (--region-bytes)");
    }
    if (heads < 0 || heads > HEADS_MAX) {
      throw new IllegalArgumentException("heads must be 1 to " + HEADS_MAX + ": " + heads);
    }
    int enough = (int) Math.min(HEADS_MAX, Math.ceilDiv(capacity, HEAD_BYTES_MAX));
    int chosen = heads == 0 ? enough : heads;
    if (chosen < enough || capacity > HEADS_MAX * HEAD_BYTES_MAX) {
      throw new IllegalArgumentException(
          "capacity of "
              + capacity
              + " bytes needs more than "
              + chosen
              + " heads: a head reaches "
              + HEAD_BYTES_MAX
              + " bytes");
    }
    long regions = capacity / region;
    if (regions <= chosen) {
      // With fewer regions deletes would free no space, because cleaning would have no region for
      // the copies of live objects.
      throw new IllegalArgumentException(
          "capacity of "
              + capacity
              + " bytes holds "
              + inWords(regions, "region")
              + " of "
              + region
              + " bytes, and the log has "
              + inWords(chosen, "head")
              + ": it needs one region more than heads, to be cleaned into; make the capacity"
              + " larger (--capacity), regions smaller (--region-bytes) or heads fewer (--heads)");
    }
    LogGeometry geometry =
        new LogGeometry(chosen, region, segmentBytes(), (int) Math.min(regions, REGIONS_MAX));
    if (regions > REGIONS_MAX) {
      throw new IllegalArgumentException(
          "capacity of "
              + capacity
              + " bytes takes "
              + regions
              + " regions of "
              + region
              + " bytes; clients can reach "
              + REGIONS_MAX
              + ": make regions larger (--region-bytes)");
    }
    return geometry;
  }
}
