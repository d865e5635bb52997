package io.erda.simulation;

import io.erda.rdma.Opcode;
import io.erda.rdma.Status;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The work that one end has posted, until it is reported: held by a fence, on its way in the order
 * posted, or done and waiting for earlier work.
 */
final class SendQueue {
  private final Hops hops;
  private final SimulatedCompletions completions;
  private final Consumer<PostedWork> arrival;
  private final ArrayDeque<PostedWork> unissued = new ArrayDeque<>();
  private final ArrayDeque<PostedWork> outstanding = new ArrayDeque<>();
  private int nonPostedOutstanding;
  private long lastArrivalNs;
  private long messages;

  /**
   * @param arrival is called with work that reaches the other end
   */
  SendQueue(Hops hops, SimulatedCompletions completions, Consumer<PostedWork> arrival) {
    this.hops = hops;
    this.completions = completions;
    this.arrival = arrival;
  }

  /**
   * Whether the queue is full: with outstanding work, and completions of own work that were not
   * polled.
   */
  boolean isFull() {
    int occupied = outstanding.size() + completions.ownWork();
    assert occupied <= hops.model.queueDepth() : occupied;
    return occupied == hops.model.queueDepth();
  }

  boolean isIdle() {
    return outstanding.isEmpty();
  }

  /** Gives a message its number. */
  void number(PostedWork message) {
    assert message.isMessage() && message.message == 0 : "a message has one number";
    message.message = ++messages;
  }

  /** The number of the message that was posted last; 0 before the first. */
  long messages() {
    return messages;
  }

  /** Makes work that is posted from now on arrive no sooner than at this time. */
  void arriveAfter(long ns) {
    assert lastArrivalNs == 0 : "something was issued already";
    lastArrivalNs = ns;
  }

  void post(PostedWork work) {
    outstanding.add(work);
    unissued.add(work);
    issue();
  }

  private void issue() {
    while (!unissued.isEmpty()) {
      PostedWork work = unissued.peek();
      if (work.isFenced() && nonPostedOutstanding > 0) {
        return;
      }
      unissued.poll();
      work.issue();
      if (work.isNonPosted()) {
        nonPostedOutstanding++;
      }
      long bytesNs = work.isNonPosted() ? 0 : hops.bytesNs(work.length);
      NetworkModel model = hops.model;
      long arrivalNs =
          hops.time.nowNs() + hops.ns(model.postNs()) + hops.ns(model.wireNs()) + bytesNs;
      lastArrivalNs = Math.max(lastArrivalNs + 1, arrivalNs);
      hops.time.at(lastArrivalNs, () -> arrival.accept(work));
    }
  }

  // Completion.

  /**
   * Completes work at a time, if it is not stopped before and its status must still be reported.
   */
  void completeAt(long atNs, PostedWork work, int status) {
    hops.time.at(atNs, () -> complete(work, status));
  }

  private void complete(PostedWork work, int status) {
    if (!work.isAwaited()) {
      return;
    }
    work.complete(status);
    if (work.isNonPosted()) {
      nonPostedOutstanding--;
      assert nonPostedOutstanding >= 0 : nonPostedOutstanding;
      issue();
    }
    while (!outstanding.isEmpty() && outstanding.peek().isDone()) {
      report(outstanding.poll());
    }
  }

  private void report(PostedWork work) {
    int status = work.status();
    if (work.isSignaled() || status != Status.SUCCESS) {
      completions.workEnded(work, status);
    }
  }

  // The end.

  /** The outstanding work in the order posted, including held work. */
  Iterable<PostedWork> outstanding() {
    return outstanding;
  }

  int size() {
    return outstanding.size();
  }

  /**
   * Reports all outstanding work: with its result when it is done, or else as flushed. Returns it.
   */
  List<PostedWork> flush() {
    outstanding.forEach(this::report);
    return drain();
  }

  /** Removes and returns all outstanding work. */
  List<PostedWork> drain() {
    List<PostedWork> drained = new ArrayList<>(outstanding);
    outstanding.clear();
    unissued.clear();
    nonPostedOutstanding = 0;
    return drained;
  }

  /** Stops the work that was not issued yet. */
  void stopUnissued() {
    unissued.forEach(PostedWork::stop);
    unissued.clear();
  }

  /** Stops all work but the spared. It stays outstanding until it is flushed. */
  void stopAllBut(Set<PostedWork> spared) {
    for (PostedWork work : outstanding) {
      if (!spared.contains(work)) {
        work.stop();
      }
    }
    forgetStopped();
  }

  /** Stops the stores that have not arrived. */
  void stopStoresOnTheWay() {
    for (PostedWork work : outstanding) {
      if (isStoreOnTheWay(work)) {
        work.stop();
      }
    }
    forgetStopped();
  }

  /** Whether it is a WRITE that has not begun to store. */
  static boolean isStoreOnTheWay(PostedWork work) {
    return work.opcode == Opcode.WRITE && work.region == null;
  }

  private void forgetStopped() {
    Iterator<PostedWork> held = unissued.iterator();
    while (held.hasNext()) {
      if (held.next().isStopped()) {
        held.remove();
      }
    }
  }
}
