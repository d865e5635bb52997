package io.erda.simulation;

import io.erda.rdma.Opcode;
import io.erda.rdma.Status;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;

/**
 * The messages of one end that have arrived at the other one and wait for delivery: in the order
 * posted, each when all earlier stores have landed and a receive is there.
 */
final class MessageDelivery {
  private final Hops hops;
  private final Reach reach;
  private final Traffic traffic;
  private final SendQueue sends;
  private final ArrayDeque<PostedWork> waiting = new ArrayDeque<>();
  private long lastReadyNs;

  MessageDelivery(Hops hops, Reach reach, Traffic traffic, SendQueue sends) {
    this.hops = hops;
    this.reach = reach;
    this.traffic = traffic;
    this.sends = sends;
  }

  /** Notes that a message arrived, and when the earlier stores have landed. */
  void arrive(PostedWork message, long allLandedNs) {
    // Ready in the order posted, so that a message that is dropped delays none that is ready.
    lastReadyNs = Math.max(hops.landsAtNs(), Math.max(allLandedNs, lastReadyNs) + 1);
    waiting.add(message);
    hops.time.at(
        lastReadyNs,
        () -> {
          message.ready();
          deliver();
        });
  }

  /**
   * Delivers messages that are ready and have a receive; one without a receive delays the others.
   */
  void deliver() {
    while (!waiting.isEmpty() && reach.isFarConnected()) {
      PostedWork message = waiting.peek();
      if (message.isDropped()) {
        waiting.poll();
        continue;
      }
      if (!message.isReady() || reach.far().receives.isEmpty()) {
        return;
      }
      waiting.poll();
      reach.far().receives.take(message);
      traffic.sent();
      sends.completeAt(hops.time.nowNs() + hops.backNs(), message, Status.SUCCESS);
    }
  }

  /** SENDs that have arrived and were not delivered. */
  List<PostedWork> waitingSends() {
    return waiting.stream().filter(message -> message.opcode == Opcode.SEND).toList();
  }

  /** Drops all other messages. */
  void keepOnly(Collection<PostedWork> kept) {
    waiting.retainAll(kept);
  }
}
