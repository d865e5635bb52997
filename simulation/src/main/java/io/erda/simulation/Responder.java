package io.erda.simulation;

import io.erda.rdma.Opcode;
import io.erda.rdma.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The other end's NIC, which executes the work that one end has posted: stores land piece by piece
 * and concurrently; READs, FLUSHes and atomic operations are executed one after the other, after
 * the stores before them.
 */
final class Responder {
  private static final int STOPPED_NS_LOG2_MIN = 16;
  private static final int STOPPED_NS_LOG2_MAX = 27;

  private final Hops hops;
  private final Reach reach;
  private final Traffic traffic;
  private final SendQueue sends;
  private final RemoteKeys keys;
  private final LateStores lateStores;
  private final MessageDelivery messages;

  /** Stores that have begun to land, in the order in which they arrived. */
  private final List<PostedWork> landing = new ArrayList<>();

  private long allLandedNs;
  private long lastNonPostedNs;

  /**
   * @param traffic of the end that posted
   * @param sends receives the completions of work
   */
  Responder(
      Hops hops,
      Reach reach,
      Traffic traffic,
      SendQueue sends,
      RemoteKeys keys,
      LateStores lateStores,
      MessageDelivery messages) {
    this.hops = hops;
    this.reach = reach;
    this.traffic = traffic;
    this.sends = sends;
    this.keys = keys;
    this.lateStores = lateStores;
    this.messages = messages;
  }

  void arrive(PostedWork work) {
    if (work.isStopped() || !reach.reaches(work)) {
      work.stop();
      return;
    }
    work.arrive();
    if (work.isStore()) {
      land(work);
    } else if (work.isNonPosted()) {
      execute(work);
    } else {
      if (!hops.model.resendsMessages()) {
        work.capture();
      }
      messages.arrive(work, allLandedNs);
    }
  }

  // WRITE.

  private void land(PostedWork work) {
    if (reach.isUnfenced()) {
      lateStores.countUnfenced();
    }
    resolve(work);
    if (work.region == null) {
      sends.completeAt(hops.time.nowNs() + hops.backNs(), work, Status.REMOTE_ACCESS);
      return;
    }
    long startNs = hops.landsAtNs();
    for (PostedWork earlier : landing) {
      if (earlier.overlaps(work)) {
        startNs = Math.max(startNs, allLandedNs + 1);
      }
    }
    landing.removeIf(earlier -> !isLanding(earlier));
    landing.add(work);
    long endNs = schedulePieces(work, startNs);
    allLandedNs = Math.max(allLandedNs, endNs);
    if (work.opcode == Opcode.WRITE_IMM) {
      messages.arrive(work, allLandedNs);
      return;
    }
    boolean early = hops.model.writeCompletesEarly() && hops.random.nextBoolean();
    if (early) {
      work.capture();
    }
    long doneNs = early ? hops.time.nowNs() : endNs;
    sends.completeAt(doneNs + hops.backNs(), work, Status.SUCCESS);
  }

  private static boolean isLanding(PostedWork work) {
    return !work.isMoved() && !work.isStopped();
  }

  private void resolve(PostedWork work) {
    work.region = keys.resolve(work, reach.far().device);
  }

  /** Returns when the last piece moves. */
  private long schedulePieces(PostedWork work, long startNs) {
    // Half of the stores have one piece, because a run in which every store is torn does not find
    // bugs that need whole objects.
    int count = hops.random.nextBoolean() ? 1 : hops.random.nextInt(1, hops.model.piecesMax() + 1);
    work.cut(count, hops.random.nextInt());
    long endNs = startNs;
    long spreadNs = hops.model.spreadNs();
    if (work.isStore()
        && hops.model.storesOutliveKeys()
        && hops.random.nextInt(lateStores.stoppedOdds()) == 0) {
      // The poster is stopped in the middle of the store.
      spreadNs = 1L << hops.random.nextInt(STOPPED_NS_LOG2_MIN, STOPPED_NS_LOG2_MAX);
    }
    boolean atOnce = count == 1 && spreadNs == hops.model.spreadNs();
    for (int i = 0; i < count; i++) {
      int piece = i;
      long atNs = startNs + (atOnce ? 0 : hops.random.nextLong(spreadNs + 1));
      endNs = Math.max(endNs, atNs);
      hops.time.at(atNs, () -> move(work, piece));
    }
    return endNs;
  }

  private void move(PostedWork work, int piece) {
    if (work.isStopped() || !work.pieces().isLeft(piece)) {
      return;
    }
    if (!work.region.registered) {
      work.refuseRest();
      if (!hops.model.storesOutliveKeys() || !work.isStore()) {
        return;
      }
    }
    count(work, OneSidedEffects.move(work, piece));
  }

  private void count(PostedWork work, int changed) {
    traffic.moved(work, changed);
    reach.far().traffic.moved(work, changed);
  }

  // READ, FLUSH and atomic operations, which are executed one after the other.

  private void execute(PostedWork work) {
    long startNs = Math.max(hops.landsAtNs(), Math.max(lastNonPostedNs, allLandedNs) + 1);
    if (work.opcode == Opcode.FLUSH) {
      startNs += hops.ns(hops.model.persistNs());
    }
    lastNonPostedNs = work.opcode == Opcode.READ ? read(work, startNs) : startNs;
    if (work.opcode != Opcode.READ) {
      hops.time.at(startNs, () -> executeWhole(work));
    }
    long completedNs = lastNonPostedNs + hops.backNs() + hops.bytesNs(work.length);
    sends.completeAt(completedNs, work, Status.SUCCESS);
  }

  /** READs. Returns when it has ended. */
  private long read(PostedWork work, long startNs) {
    resolve(work);
    if (work.region == null) {
      work.refuse();
      return startNs;
    }
    return schedulePieces(work, startNs);
  }

  private void executeWhole(PostedWork work) {
    if (work.isStopped()) {
      return;
    }
    resolve(work);
    if (work.region == null) {
      work.refuse();
      return;
    }
    switch (work.opcode) {
      case Opcode.FLUSH -> OneSidedEffects.flush(work, hops.model.ddio());
      case Opcode.ATOMIC_WRITE -> count(work, OneSidedEffects.storeWord(work));
      case Opcode.COMPARE_AND_SWAP -> {
        long was = OneSidedEffects.loadWord(work);
        if (was == work.expected) {
          count(work, OneSidedEffects.storeWord(work));
        }
        OneSidedEffects.returnWord(work, was);
      }
      default -> throw new IllegalArgumentException("opcode " + work.opcode);
    }
  }

  // The end.

  /** The stores that have begun to land and have not ended. */
  List<PostedWork> landing() {
    return landing.stream().filter(Responder::isLanding).toList();
  }

  /** Lands these pieces, given as bits, of the stores that are landing. */
  void landNow(int pieces) {
    for (PostedWork work : landing) {
      for (int piece = 0; piece < work.pieces().count; piece++) {
        if ((pieces >>> piece & 1) != 0) {
          move(work, piece);
        }
      }
    }
  }

  /** Stops all landing stores but the spared ones; later work does not wait for any. */
  void stopAllBut(Set<PostedWork> spared) {
    for (PostedWork work : landing) {
      if (!spared.contains(work)) {
        work.stop();
      }
    }
    landing.clear();
  }

  /** Makes later work not wait for the stores that are landing. */
  void forgetLanding() {
    landing.clear();
  }
}
