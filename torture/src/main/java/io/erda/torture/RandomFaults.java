package io.erda.torture;

import io.erda.torture.FaultyWire.Fault;
import io.erda.torture.FaultyWire.Kind;
import io.erda.torture.FaultyWire.Plan;
import java.util.SplittableRandom;

/** Random faults of one connection: mostly flips, some cuts, and stalls of a part of a second. */
final class RandomFaults implements Plan {
  private static final long APART_BYTES_MAX = 200_000;
  private static final long STALL_NS_MAX = 200_000_000;

  private final SplittableRandom toServer;
  private final SplittableRandom toClient;

  RandomFaults(SplittableRandom random) {
    this.toServer = random.split();
    this.toClient = random.split();
  }

  @Override
  public Fault next(boolean ofServer) {
    SplittableRandom random = ofServer ? toServer : toClient;
    Kind kind =
        switch (random.nextInt(5)) {
          case 0 -> Kind.CUT;
          case 1 -> Kind.STALL;
          default -> Kind.FLIP;
        };
    return new Fault(
        kind, random.nextLong(APART_BYTES_MAX), random.nextInt(8), random.nextLong(STALL_NS_MAX));
  }
}
