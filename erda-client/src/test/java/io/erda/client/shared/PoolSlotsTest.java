package io.erda.client.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.protocol.ErdaException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The places of a pool whose threads end with errors. */
@Timeout(60)
class PoolSlotsTest {
  private static final long LONG_NS = TimeUnit.SECONDS.toNanos(40);

  private static PoolSlots slots(int count, long timeoutNs) {
    return new PoolSlots(count, timeoutNs, System::nanoTime, _ -> true, _ -> true);
  }

  private static void giveBack(PoolSlots slots, PoolSlots.Slot slot) {
    int ticket = slot.ticket;
    slot.left = ticket;
    slots.giveBack(slot, ticket);
  }

  /** The stack of a thread was full when it was to give its place back. */
  @Test
  void aPlaceThatWasLeftAndNotGivenBackIsTakenOver() {
    PoolSlots slots = slots(1, LONG_NS);
    PoolSlots.Slot lost = slots.take(PoolSlots.NOW);
    lost.left = lost.ticket;
    assertSame(lost, slots.take(PoolSlots.NOW));
  }

  @Test
  void aPlaceThatWasTakenOverIsNotGivenBackByTheThreadThatLeftIt() {
    PoolSlots slots = slots(1, TimeUnit.SECONDS.toNanos(1));
    PoolSlots.Slot slow = slots.take(PoolSlots.NOW);
    int ticket = slow.ticket;
    slow.left = ticket;
    assertSame(slow, slots.take(PoolSlots.NOW));
    slots.giveBack(slow, ticket);
    ErdaException e =
        assertThrows(ErdaException.Unavailable.class, () -> slots.take(PoolSlots.NOW));
    assertEquals("no client was free within 1000 ms: all 1 of the pool are lent", e.getMessage());
  }

  /** Found by a review: two threads used one client, which belonged to the first of them. */
  @Test
  void aThreadWhosePlaceWasTakenOverDoesNotGiveItBackForTheNextOneThatLeavesIt() {
    PoolSlots slots = slots(1, TimeUnit.MILLISECONDS.toNanos(500));
    PoolSlots.Slot slot = slots.take(PoolSlots.NOW);
    int slow = slot.ticket;
    slot.left = slow;
    assertSame(slot, slots.take(PoolSlots.NOW));
    int next = slot.ticket;
    slot.left = next;
    assertFalse(slot.unmark(slow));
    slots.giveBack(slot, slow);
    assertTrue(slot.unmark(next), "the place was given to another thread");
    assertThrows(ErdaException.Unavailable.class, () -> slots.take(PoolSlots.NOW));
  }

  /** Found by a review: under load, marks of two takings were taken for one that stays. */
  @Test
  void aPlaceThatGoesFromHandToHandIsNotTakenOver() throws Exception {
    PoolSlots slots = slots(1, LONG_NS);
    AtomicInteger holders = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger takenOver = new AtomicInteger();
    long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 32; i++) {
      threads.add(
          Thread.ofPlatform()
              .start(() -> {
                while (System.nanoTime() < endNs) {
                  PoolSlots.Slot slot = slots.take(PoolSlots.NOW);
                  int ticket = slot.ticket;
                  most.accumulateAndGet(holders.incrementAndGet(), Math::max);
                  LockSupport.parkNanos(5_000_000);
                  holders.decrementAndGet();
                  long leftNs = System.nanoTime();
                  slot.left = ticket;
                  // The mark is seen by the threads that look for places whose mark stays.
                  LockSupport.parkNanos(5_000_000);
                  if (!slot.unmark(ticket)) {
                    // A thread may also have been stopped for so long.
                    boolean stayed = System.nanoTime() - leftNs >= PoolSlots.LEFT_NS;
                    takenOver.addAndGet(stayed ? 0 : 1);
                    continue;
                  }
                  slot.left = ticket;
                  slots.giveBack(slot, ticket);
                }
              }));
    }
    for (Thread each : threads) {
      each.join();
    }
    assertEquals(1, most.get());
    assertEquals(0, takenOver.get(), "a mark was taken for an older one");
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
