package io.erda.simulation;

import java.util.random.RandomGenerator;

/**
 * How the simulated NICs and the wire between them behave. Times are virtual nanoseconds of one
 * hop.
 *
 * @param postNs requester: doorbell and fetch of the work by its NIC
 * @param wireNs NIC to NIC, one way
 * @param wireNsPerKib additional time for each KiB moved
 * @param landNs responder: NIC to last-level cache or memory controller (paper 001: PCIe to LLC,
 *     200 ns there and back)
 * @param persistNs responder: cache to controller to medium, the time that a FLUSH waits (paper
 *     001: 10 + 150 ns)
 * @param completionNs requester: NIC to completion queue
 * @param spreadNs the longest time between the pieces of one READ or WRITE
 * @param piecesMax pieces of one READ or WRITE; 1 makes them atomic
 * @param jitterPercent random addition to every hop
 * @param slowOdds one hop in this many is slow; 0 = none
 * @param slowFactor the largest factor of a slow hop
 * @param detectNs how long an end takes to notice that the other is gone
 * @param queueDepth the most work of a queue pair that was posted and not yet completed; at least
 *     256, as for every device
 * @param receiveDepth the most receives of a queue pair
 * @param messageBytesMax longest SEND
 * @param writeCompletesEarly whether a WRITE may complete when the responder's NIC has it, before
 *     it is visible
 * @param ddio whether NIC stores and FLUSH end in the cache, not in the memory controller
 * @param readsOutlivePeer whether READs go on after the peer's process crashed (as over shared
 *     memory)
 * @param resendsMessages whether a SEND's memory is read when it is delivered, as when it had to
 *     wait for a receive and was sent again; else when it arrives first
 */
public record NetworkModel(
    long postNs,
    long wireNs,
    long wireNsPerKib,
    long landNs,
    long persistNs,
    long completionNs,
    long spreadNs,
    int piecesMax,
    int jitterPercent,
    int slowOdds,
    int slowFactor,
    long detectNs,
    int queueDepth,
    int receiveDepth,
    int messageBytesMax,
    boolean writeCompletesEarly,
    boolean ddio,
    boolean readsOutlivePeer,
    boolean resendsMessages) {
  /**
   * A 40 Gb/s fabric as in the papers (001's model; 002: 1.4 µs for a WRITE of 64 bytes, with its
   * acknowledgement), DDIO on.
   */
  public static final NetworkModel PAPERS =
      new NetworkModelBuilder()
          .postNs(100)
          .wireNs(500)
          .wireNsPerKib(200)
          .landNs(100)
          .persistNs(160)
          .completionNs(100)
          .spreadNs(300)
          .piecesMax(4)
          .jitterPercent(30)
          .slowOdds(64)
          .slowFactor(50)
          .detectNs(20_000)
          .queueDepth(1024)
          .receiveDepth(1024)
          .messageBytesMax(4096)
          .writeCompletesEarly(true)
          .ddio(true)
          .readsOutlivePeer(false)
          .resendsMessages(true)
          .build();

  private static final long SLOW_PIECES_NS = 1 << 14;
  private static final int SLOW_PIECES = 8;

  /** A random model, realistic or worse, from calm to wild. */
  public static NetworkModel random(RandomGenerator random) {
    return new NetworkModelBuilder()
        .postNs(random.nextLong(20, 200))
        .wireNs(random.nextLong(50, 2000))
        .wireNsPerKib(random.nextLong(1, 400))
        .landNs(random.nextLong(20, 300))
        .persistNs(160)
        .completionNs(random.nextLong(20, 300))
        .spreadNs(1L << random.nextInt(4, 13))
        .piecesMax(random.nextInt(1, 7))
        .jitterPercent(random.nextInt(0, 200))
        .slowOdds(random.nextBoolean() ? 0 : 1 << random.nextInt(3, 9))
        .slowFactor(1 << random.nextInt(1, 9))
        .detectNs(1L << random.nextInt(8, 20))
        .queueDepth(1 << random.nextInt(8, 11))
        .receiveDepth(1 << random.nextInt(8, 11))
        .messageBytesMax(4096)
        .writeCompletesEarly(random.nextBoolean())
        .ddio(random.nextBoolean())
        .readsOutlivePeer(random.nextBoolean())
        .resendsMessages(random.nextBoolean())
        .build();
  }

  /** A copy with another {@link #readsOutlivePeer}. */
  public NetworkModel withReadsOutlivePeer(boolean outlive) {
    return new NetworkModelBuilder(this).readsOutlivePeer(outlive).build();
  }

  /** A copy in which READs and WRITEs are split into several slow pieces. */
  public NetworkModel slowPieces() {
    return slowPieces(SLOW_PIECES_NS);
  }

  /** A copy in which READs and WRITEs are split into several pieces within a time. */
  public NetworkModel slowPieces(long withinNs) {
    return new NetworkModelBuilder(this).spreadNs(withinNs).piecesMax(SLOW_PIECES).build();
  }

  /**
   * A copy without chance, for measurements: every hop takes its time and no more, nothing is torn,
   * and NICs store past the cache.
   *
   * @param longestMessageBytes longest SEND
   */
  public NetworkModel steady(int longestMessageBytes) {
    return new NetworkModelBuilder(this)
        .spreadNs(0)
        .piecesMax(1)
        .jitterPercent(0)
        .slowOdds(0)
        .messageBytesMax(longestMessageBytes)
        .writeCompletesEarly(false)
        .ddio(false)
        .resendsMessages(false)
        .build();
  }

  /** A copy in which an end notices after a time that the other one is gone. */
  public NetworkModel noticing(long afterNs) {
    return new NetworkModelBuilder(this).detectNs(afterNs).build();
  }

  /**
   * A copy that behaves as a synchronous device: no WRITE completes early, no SEND is read late.
   */
  public NetworkModel prompt() {
    return new NetworkModelBuilder(this).writeCompletesEarly(false).resendsMessages(false).build();
  }

  /**
   * Whether a store that its poster has begun lands even if the key or the connection is gone: when
   * READs outlive the peer they are the poster's own loads, and its WRITEs are its own stores.
   */
  boolean storesOutliveKeys() {
    return readsOutlivePeer;
  }

  /** The time of a hop, by the seed. */
  long hop(long baseNs, RandomGenerator random) {
    long ns = baseNs;
    if (jitterPercent > 0) {
      ns += (baseNs * jitterPercent * (random.nextInt() >>> 16)) / (100L << 16);
    }
    if (slowOdds > 0 && random.nextInt(slowOdds) == 0) {
      ns += baseNs * random.nextInt(1, slowFactor + 1);
    }
    return ns;
  }
}
