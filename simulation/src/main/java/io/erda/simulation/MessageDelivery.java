package io.erda.simulation;

import io.erda.rdma.Opcode;
import io.erda.rdma.Status;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;

/**
 * The messages of one end that have come to the other and wait to be delivered there: in the order
 * posted, each when what was stored before it has landed and a receive is there.
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

  /** A message arrived. What was stored before it has landed at that time. */
  void arrive(PostedWork message, long allLandedNs) {
    // Ready in the order posted: so one that is dropped holds up nothing that is ready.
    lastReadyNs = Math.max(hops.landsAtNs(), Math.max(allLandedNs, lastReadyNs) + 1);
    waiting.add(message);
    hops.time.at(
        lastReadyNs,
        () -> {
          message.ready();
          deliver();
        });
  }

  /** Delivers what is ready and has a receive: one without holds up the others. */
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

  /** The SENDs that have arrived and were not delivered. */
  List<PostedWork> waitingSends() {
    return waiting.stream().filter(message -> message.opcode == Opcode.SEND).toList();
  }

  /** No other message is delivered. */
  void keepOnly(Collection<PostedWork> kept) {
    waiting.retainAll(kept);
  }
}
