package io.erda.client.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.erda.protocol.ErdaException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The places of a pool whose threads end with errors. */
@Timeout(60)
class PoolSlotsTest {
  private static final long LONG_NS = TimeUnit.SECONDS.toNanos(40);

  private static PoolSlots slots(int count, long timeoutNs) {
    return new PoolSlots(count, timeoutNs, System::nanoTime, _ -> true);
  }

  private static void giveBack(PoolSlots slots, PoolSlots.Slot slot) {
    slot.left = true;
    slots.giveBack(slot);
  }

  /** The stack of a thread was full when it was to give its place back. */
  @Test
  void aPlaceThatWasLeftAndNotGivenBackIsTakenOver() {
    PoolSlots slots = slots(1, LONG_NS);
    PoolSlots.Slot lost = slots.take(PoolSlots.NOW);
    lost.left = true;
    assertSame(lost, slots.take(PoolSlots.NOW));
  }

  @Test
  void aPlaceThatWasTakenOverIsNotGivenBackByTheThreadThatLeftIt() {
    PoolSlots slots = slots(1, TimeUnit.SECONDS.toNanos(1));
    PoolSlots.Slot slow = slots.take(PoolSlots.NOW);
    slow.left = true;
    assertSame(slow, slots.take(PoolSlots.NOW));
    slots.giveBack(slow);
    ErdaException e =
        assertThrows(ErdaException.Unavailable.class, () -> slots.take(PoolSlots.NOW));
    assertEquals("no client was free within 1000 ms: all 1 of the pool are lent", e.getMessage());
  }

  @Test
  void aPlaceThatIsStillUsedIsNotTakenOver() {
    PoolSlots slots = slots(2, TimeUnit.MILLISECONDS.toNanos(500));
    assertNotNull(slots.take(PoolSlots.NOW));
    PoolSlots.Slot used = slots.take(PoolSlots.NOW);
    assertThrows(ErdaException.Unavailable.class, () -> slots.take(PoolSlots.NOW));
    giveBack(slots, used);
    assertSame(used, slots.take(PoolSlots.NOW));
  }

  @Test
  void aWaitingThreadGetsThePlaceThatIsGivenBack() throws Exception {
    PoolSlots slots = slots(1, LONG_NS);
    for (int i = 0; i < 20; i++) {
      PoolSlots.Slot slot = slots.take(PoolSlots.NOW);
      FutureTask<PoolSlots.Slot> waiting = new FutureTask<>(() -> slots.take(PoolSlots.NOW));
      Thread.ofPlatform().daemon().start(waiting);
      TimeUnit.MILLISECONDS.sleep(i);
      giveBack(slots, slot);
      giveBack(slots, waiting.get());
    }
  }
}
