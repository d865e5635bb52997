package io.erda.simulation;

import io.erda.rdma.Opcode;
import java.util.function.BooleanSupplier;

/**
 * READs within the call, as between two ends on one host: loads in the caller's thread, piece by
 * piece, while other processes go on. Some of them are refused.
 */
final class ReadInCall {
  private static final int REFUSAL_ODDS = 8;

  private final Hops hops;
  private final Reach reach;
  private final RemoteKeys keys;
  private final Traffic traffic;
  private final BooleanSupplier crashed;

  /**
   * @param traffic of the caller
   * @param crashed whether the caller's process has ended
   */
  ReadInCall(Hops hops, Reach reach, RemoteKeys keys, Traffic traffic, BooleanSupplier crashed) {
    this.hops = hops;
    this.reach = reach;
    this.keys = keys;
    this.traffic = traffic;
    this.crashed = crashed;
  }

  /**
   * Whether a READ in the call may be tried now.
   *
   * @param idle whether no posted work is under way, which the READ would overtake
   */
  boolean mayBegin(boolean idle) {
    return hops.model.readsOutlivePeer()
        && reach.isWhole()
        && idle
        && hops.random.nextInt(REFUSAL_ODDS) != 0;
  }

  /** READs. Returns whether it succeeded. */
  boolean read(PostedWork work) {
    assert work.opcode == Opcode.READ : work.opcode;
    work.region = keys.resolve(work, reach.far().device);
    if (work.region == null) {
      return false;
    }
    int count = hops.random.nextInt(1, hops.model.piecesMax() + 1);
    work.cut(count, hops.random.nextInt());
    for (int piece = 0; piece < count; piece++) {
      othersGoOn();
      if (!isReachable(work)) {
        return false;
      }
      traffic.moved(work, OneSidedEffects.move(work, piece));
    }
    othersGoOn();
    return isReachable(work);
  }

  private boolean isReachable(PostedWork work) {
    return reach.isWhole() && work.region.registered;
  }

  private void othersGoOn() {
    if (hops.random.nextBoolean()) {
      hops.time.runFor(hops.random.nextLong(hops.model.spreadNs() + 1));
    }
    if (crashed.getAsBoolean()) {
      throw new SimulatedCrash("the process ended while it read");
    }
  }
}
