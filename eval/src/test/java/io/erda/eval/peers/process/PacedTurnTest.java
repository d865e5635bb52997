package io.erda.eval.peers.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.eval.load.LoadResult;
import org.junit.jupiter.api.Test;

/** Operations are due at a steady rate, whatever the store does; on a clock of the test's. */
class PacedTurnTest {
  private static final long NS_PER_MS = 1_000_000;

  /** The time of one reading of the clock. */
  private static final long LOOK_NS = 100;

  private long nowNs;
  private long getNs;
  private long slowGetNs;

  private final HeapStore store =
      new HeapStore() {
        private int gets;

        @Override
        public int get() {
          nowNs += ++gets == 10 ? slowGetNs : getNs;
          return super.get();
        }
      };

  private LoadResult run() {
    PeerObjects objects = new PeerObjects(store, 1, HeapStore.VALUE_BYTES);
    objects.put(0);
    return new PacedTurn(objects, () -> nowNs += LOOK_NS).run(1000 * NS_PER_MS, NS_PER_MS);
  }

  @Test
  void halfAreGetsAndHalfPutsInTheTimeThatTheyAreGiven() {
    getNs = 10_000;
    slowGetNs = 10_000;
    LoadResult result = run();
    assertEquals(1000, result.operations());
    assertEquals(500, result.read().count());
    assertEquals(500, result.update().count());
    assertEquals(999.0, result.elapsedNs() / NS_PER_MS, 1);
    assertEquals(10_000.0, result.read().p50(), 4 * LOOK_NS);
    assertEquals(0.0, result.update().p50(), 4 * LOOK_NS);
  }

  /**
   * A get takes 600 ms. Operations that were due during that time had to wait, half of them gets
   * and half puts.
   */
  @Test
  void whoIsDueBehindASlowOperationIsLateToo() {
    getNs = 10_000;
    slowGetNs = 600 * NS_PER_MS;
    LoadResult result = run();
    assertEquals(600.0, result.read().max() / NS_PER_MS, 2);
    assertEquals(599.0, result.update().max() / NS_PER_MS, 2);
    assertTrue(result.update().p50() > 50 * NS_PER_MS, result::toString);
  }
}
