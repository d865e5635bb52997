package io.erda.simulation;

import java.util.random.RandomGenerator;

/** The times that hops between posters, NICs and memory take, by the model and the seed. */
final class Hops {
  final VirtualTime time;
  final RandomGenerator random;
  final NetworkModel model;

  Hops(VirtualTime time, RandomGenerator random, NetworkModel model) {
    this.time = time;
    this.random = random;
    this.model = model;
  }

  long ns(long baseNs) {
    return model.hop(baseNs, random);
  }

  /** From a poster to the other end's memory. */
  long thereNs() {
    return ns(model.postNs()) + ns(model.wireNs()) + ns(model.landNs());
  }

  /** From the other end's NIC to the poster's completion queue. */
  long backNs() {
    return ns(model.wireNs()) + ns(model.completionNs());
  }

  /** What the bytes themselves add on the wire. */
  long bytesNs(int length) {
    return length * model.wireNsPerKib() >>> 10;
  }

  /** When something lands that arrives now. */
  long landsAtNs() {
    return time.nowNs() + ns(model.landNs());
  }
}
