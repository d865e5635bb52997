package io.erda.simulation;

import java.util.random.RandomGenerator;

/** The times of hops between posters, NICs and memory, by the model and the seed. */
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

  /** Time from a poster to the other end's memory. */
  long thereNs() {
    return ns(model.postNs()) + ns(model.wireNs()) + ns(model.landNs());
  }

  /** Time from the other end's NIC to the poster's completion queue. */
  long backNs() {
    return ns(model.wireNs()) + ns(model.completionNs());
  }

  /** Additional time on the wire for the bytes. */
  long bytesNs(int length) {
    return length * model.wireNsPerKib() >>> 10;
  }

  /** When a store lands that arrives now. */
  long landsAtNs() {
    return time.nowNs() + ns(model.landNs());
  }
}
