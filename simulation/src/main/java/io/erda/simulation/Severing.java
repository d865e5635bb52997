package io.erda.simulation;

import io.erda.rdma.Opcode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Decides which work of one end still takes effect when its connection ends: when an end closes or
 * notices the loss, when the wire fails, or when a process or its host dies.
 */
final class Severing {
  private final Hops hops;
  private final Reach reach;
  private final SendQueue sends;
  private final Responder responder;
  private final MessageDelivery messages;
  private final LateStores lateStores;

  /** Work that is still on the way although it was reported as flushed, or its poster is gone. */
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

  /** Stops all work of this end. */
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
   * Stops the work of this end because the other end has closed. Stores that have begun go on if
   * they can't be taken back.
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
   * Handles the close of this end. Messages that have arrived at the other end are still delivered,
   * because the receiver claims them before it acts, and then learns that this end has left.
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
   * Reports outstanding work as flushed, so that its memory may be reused. All work that needs no
   * answer may still arrive.
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
   * Cuts the wire. A seeded number of the works on the way arrives completely, the next one in
   * part, the others not at all.
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
   * @param behind by how many works this one follows the work that arrives in part
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

  // The other end's process dies.

  /**
   * Decides about the stores of this end into the dead process's memory.
   *
   * @param receivedLands whether all bytes that its NIC has received land; else a part by the seed
   */
  void landAtCrash(boolean receivedLands) {
    responder.landNow(receivedLands ? -1 : hops.random.nextInt());
  }

  /**
   * Stops the work of this end; but if READs outlive the process they go on, and so do stores until
   * they are fenced.
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

  /** Makes this end begin no further store, because the memory was opened by another process. */
  void fence() {
    assert reach.isUnfenced() : "it is fenced once";
    reach.fence();
    sends.stopStoresOnTheWay();
    responder.landing().forEach(this::goOnUnheard);
    responder.forgetLanding();
  }

  /** Stops all work, because the power of the host fails that this end shares with the memory. */
  void fail() {
    reach.fence();
    stop();
  }
}
