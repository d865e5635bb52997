package io.erda.simulation;

import io.erda.rdma.Opcode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What of the work that one end has posted still takes effect when its connection ends: as it is
 * closed, as an end notices, as the wire goes, as a process or its host dies.
 */
final class Severing {
  private final Hops hops;
  private final Reach reach;
  private final SendQueue sends;
  private final Responder responder;
  private final MessageDelivery messages;
  private final LateStores lateStores;

  /** Reported as flushed, or nobody is left to report to, and yet on the way. */
  private final List<PostedWork> stragglers = new ArrayList<>();

  Severing(
      Hops hops,
      Reach reach,
      SendQueue sends,
      Responder responder,
      MessageDelivery messages,
      LateStores lateStores) {
    this.hops = hops;
    this.reach = reach;
    this.sends = sends;
    this.responder = responder;
    this.messages = messages;
    this.lateStores = lateStores;
  }

  /** Nothing that this end posted takes effect from now on. */
  void stop() {
    stopAllBut(Set.of());
    messages.keepOnly(List.of());
  }

  private void stopAllBut(Set<PostedWork> spared) {
    sends.stopAllBut(spared);
    responder.stopAllBut(spared);
    for (PostedWork work : stragglers) {
      if (!spared.contains(work)) {
        work.stop();
      }
    }
    stragglers.clear();
  }

  /**
   * The other end wants nothing more from here. What this end has begun to store goes on, where
   * nothing can take that back.
   */
  void cutShort() {
    cutShort(Set.of());
  }

  private void cutShort(Set<PostedWork> spared) {
    List<PostedWork> begun = hops.model.storesOutliveKeys() ? responder.landing() : List.of();
    Set<PostedWork> goOn = new HashSet<>(spared);
    goOn.addAll(begun);
    stopAllBut(goOn);
    messages.keepOnly(List.of());
    for (PostedWork work : begun) {
      goOnUnheard(work);
      if (reach.isUnfenced()) {
        lateStores.countUnfenced();
      }
    }
  }

  private void goOnUnheard(PostedWork work) {
    work.goUnheard();
    work.capture();
    lateStores.goesOn(work);
  }

  /**
   * This end is closed. What has arrived at the other end is delivered there all the same: whoever
   * acts on it claims it before, and learns that this end has left.
   */
  void leaveMessages() {
    assert !reach.isLost() : "what a cut stopped would arrive";
    responder.landNow(-1);
    List<PostedWork> arrived = messages.waitingSends();
    assert arrived.stream().noneMatch(PostedWork::isDropped) : "only a cut drops messages";
    stopAllBut(new HashSet<>(arrived));
    messages.keepOnly(arrived);
    for (PostedWork work : arrived) {
      work.goUnheard();
      work.capture();
      stragglers.add(work);
    }
  }

  /**
   * Its poster is free to reuse the memory of what was outstanding, and may not hear of it; and yet
   * all but what needs an answer may arrive.
   */
  void leaveBehind(List<PostedWork> outstanding) {
    for (PostedWork work : outstanding) {
      work.goUnheard();
      if (work.isNonPosted()) {
        work.stop();
      }
      if (!work.isStopped()) {
        work.capture();
        stragglers.add(work);
      }
    }
  }

  /**
   * The wire is gone. A seeded number of the works on the way arrives whole, the next one in part,
   * the others not at all.
   */
  void cutOff() {
    reach.lose();
    sends.stopUnissued();
    int whole = hops.random.nextInt(sends.size() + 1);
    int index = 0;
    for (PostedWork work : sends.outstanding()) {
      if (!work.isDone()) {
        cutOff(work, index - whole);
      }
      index++;
    }
  }

  /**
   * @param behind how far it is behind the one that arrives in part
   */
  private void cutOff(PostedWork work, int behind) {
    work.goUnheard();
    work.cutOff();
    if (behind == 0) {
      work.tear(hops.random.nextInt());
    }
    if (behind > 0 || work.isNonPosted()) {
      work.stop();
    }
    if (!work.isStopped()) {
      work.capture();
    }
  }

  // The other end's process dies

  /**
   * What this end was storing into it.
   *
   * @param receivedLands whether what its NIC has received lands; else a part by the seed
   */
  void landAtCrash(boolean receivedLands) {
    responder.landNow(receivedLands ? -1 : hops.random.nextInt());
  }

  /**
   * What this end had posted takes no effect any more; but where READs outlive the process they go
   * on, and so do stores until they are fenced.
   */
  void stopAtCrash(boolean readsOutlive, boolean unfenced) {
    reach.farCrashed(readsOutlive, unfenced);
    if (!readsOutlive) {
      stop();
      return;
    }
    Set<PostedWork> goOn = new HashSet<>();
    for (PostedWork work : sends.outstanding()) {
      boolean store = unfenced && SendQueue.isStoreOnTheWay(work);
      if ((work.opcode == Opcode.READ || store) && !work.isStopped()) {
        goOn.add(work);
      }
    }
    cutShort(goOn);
  }

  /** Somebody has opened the memory that this end stores into: it begins no further store. */
  void fence() {
    assert reach.isUnfenced() : "it is fenced once";
    reach.fence();
    sends.stopStoresOnTheWay();
    responder.landing().forEach(this::goOnUnheard);
    responder.forgetLanding();
  }

  /** The power of the host that this end shares with the memory fails. */
  void fail() {
    reach.fence();
    stop();
  }
}
