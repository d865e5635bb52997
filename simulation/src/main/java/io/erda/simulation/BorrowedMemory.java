package io.erda.simulation;

import io.erda.protocol.Commits;
import java.lang.foreign.MemorySegment;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;

/**
 * The peer's memory as one end accesses it by loads and stores of its own, as between processes of
 * one host. Others go on between some of these accesses, and now and then for long.
 *
 * <p>What is stored there is visible at once; nobody notes whether it is durable. So power failures
 * are not for runs with such accesses.
 */
final class BorrowedMemory implements IntConsumer {
  /** The places of {@code CommitLine}: a swap is what comes next; and it was made. */
  private static final int SEEN = 3;

  private static final int SWAPPED = 4;

  private static final int STOP_ODDS = 4;

  /** One stop in so many is long, and where the end stops often one in so few. */
  private static final int LONG_STOP_ODDS = 64;

  private static final int LONG_STOP_ODDS_OFTEN = 6;
  private static final int PLACES = 8;
  private static final int NS_LOG2_MIN = 4;
  private static final int NS_LOG2_MAX = 13;
  private static final int LONG_NS_LOG2_MIN = 22;
  private static final int LONG_NS_LOG2_MAX = 28;

  private final Hops hops;
  private final ConnectionEnd near;
  private final Reach reach;
  private final SimulatedNetwork network;
  private final BooleanSupplier crashed;

  /** Where this end stops often; perhaps nowhere. */
  private final int oftenAt;

  private boolean borrowed;
  private boolean within;

  /** The file by which a server and clients exclude each other; null while it is unknown. */
  private MemorySegment commits;

  /** How many servers there had been when this end was connected. */
  private long listens;

  /** The number of the server's turn when this end looked at it last. */
  private long turn;

  /**
   * @param crashed whether the process of this end has died
   */
  BorrowedMemory(
      Hops hops,
      ConnectionEnd near,
      Reach reach,
      SimulatedNetwork network,
      BooleanSupplier crashed) {
    this.hops = hops;
    this.near = near;
    this.reach = reach;
    this.network = network;
    this.crashed = crashed;
    this.oftenAt = network.lendsMemory() ? hops.random.nextInt(PLACES) : 0;
  }

  /** Notes that this end is connected. */
  void connected() {
    listens = network.listens();
  }

  /**
   * The bytes of a region; null when they can't be accessed. The user of a file may store to it,
   * whatever it is registered for.
   */
  MemorySegment memory(long remoteKey, boolean toStore) {
    SimulatedRegion region =
        network.lendsMemory() && near.isConnected() ? network.keys.find(remoteKey) : null;
    if (region == null
        || region.device != reach.far().device
        || !region.registered
        || toStore && region.file == null) {
      return null;
    }
    if (!borrowed) {
      borrowed = true;
      network.borrowers.add(this);
    }
    MemorySegment memory = region.target.asSlice(region.base, region.memory().byteSize());
    if (Commits.isValid(memory)) {
      commits = memory;
    }
    return memory;
  }

  /**
   * Comes to a place between two accesses.
   *
   * @throws AssertionError when this end has made a swap too late
   */
  @Override
  public void accept(int place) {
    if (place == SEEN) {
      turn = Commits.load(commits, Commits.TURN_OFFSET);
    } else if (place == SWAPPED) {
      requireInTime();
    }
    long ns = hops.random.nextInt(STOP_ODDS) == 0 ? stopNs(place) : 0;
    if (ns > 0) {
      within = true;
      try {
        hops.time.stop(ns);
      } finally {
        within = false;
      }
    }
    if (crashed.getAsBoolean()) {
      throw new SimulatedCrash("the process ended between two accesses");
    }
    network.reached(place);
  }

  /** No step of the server has passed since this end looked at the turn, and there is no other. */
  private void requireInTime() {
    if (Commits.load(commits, Commits.TURN_OFFSET) >= turn + 2) {
      throw new AssertionError("a swap came through although a step has passed since");
    }
    if (network.listens() != listens) {
      throw new AssertionError("a swap came through although another server has the store");
    }
  }

  private long stopNs(int place) {
    int odds = place == oftenAt ? LONG_STOP_ODDS_OFTEN : LONG_STOP_ODDS;
    return hops.random.nextInt(odds) == 0
        ? 1L << hops.random.nextInt(LONG_NS_LOG2_MIN, LONG_NS_LOG2_MAX)
        : hops.random.nextLong(1L << hops.random.nextInt(NS_LOG2_MIN, NS_LOG2_MAX));
  }

  /** Whether this end accesses nothing any more. */
  boolean isOver() {
    return crashed.getAsBoolean() || !near.isConnected() && !within;
  }

  /** Whether the other end has ended the connection, or died, and this one may not know. */
  boolean isStranger() {
    return !isOver() && !reach.isWhole();
  }
}
