package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.testing.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StepTurnTest {
  private final StepTurn turn = new StepTurn(System::nanoTime);

  @Test
  void oneThreadAtATimeHasTheTurn() {
    turn.take();
    assertFalse(
        turn.take(() -> {
          throw new AssertionError("two threads have the turn");
        }));
    turn.release();
    assertTrue(
        turn.take(() -> {
          assertFalse(turn.take(() -> true), "two threads have the turn");
          return true;
        }));
    assertFalse(turn.take(() -> false), "there is work left");
    turn.take();
  }

  @Test
  void aStepThatFailsIsTheLastAndTheServersThreadHearsOfIt() {
    StackOverflowError error = new StackOverflowError();
    assertFalse(
        turn.take(() -> {
          throw error;
        }));
    assertFalse(turn.take(() -> true));
    assertSame(error, assertThrows(StackOverflowError.class, turn::take));
    assertSame(error, assertThrows(StackOverflowError.class, turn::end));
  }

  @Test
  void nobodyStepsBehindTheEnd() {
    turn.end();
    assertFalse(turn.take(() -> true));
  }

  /** A thread that may share the turn. */
  private static final class Counted extends StepTurn.Sharer {
    int notes;
    boolean gone;

    @Override
    void takeNote() {
      notes++;
    }

    @Override
    boolean isGone() {
      return gone;
    }
  }

  private Counted sharer() {
    Counted sharer = new Counted();
    turn.take();
    turn.add(sharer);
    turn.release();
    return sharer;
  }

  @Test
  void severalShareTheTurnAndNobodyHasItAloneMeanwhile() throws Exception {
    Counted one = sharer();
    Counted another = sharer();
    assertTrue(one.enter(turn));
    assertTrue(another.enter(turn));
    AtomicBoolean taken = new AtomicBoolean();
    FutureTask<Throwable> taking =
        Threads.start(
            "taking",
            () -> {
              turn.take();
              taken.set(true);
            });
    while (turn.asked.get() == 0) {
      Thread.onSpinWait();
    }
    assertFalse(new Counted().enter(turn), "somebody waits for the turn");
    one.leave();
    Thread.sleep(20);
    assertFalse(taken.get(), "one has the turn alone beside another that shares it");
    assertEquals(0, another.notes);
    another.hasNews = true;
    another.leave();
    assertNull(taking.get());
    assertTrue(taken.get());
    assertEquals(1, another.notes, "notes are taken behind the sharers");
    assertEquals(0, one.notes, "it has no news");
    assertFalse(one.enter(turn), "a thread has the turn alone");
    turn.release();
    assertTrue(one.enter(turn));
  }

  @Test
  void aThreadOfTheApplicationDoesNotWaitForOneThatStays() throws Exception {
    Counted stopped = sharer();
    stopped.hasNews = true;
    assertTrue(stopped.enter(turn));
    assertEquals(0, turn.asked.getAndIncrement());
    assertFalse(turn.awaitSharersOfCaller());
    assertEquals(0, stopped.notes, "nothing is done beside it");
    turn.release();
    stopped.leave();
    assertEquals(0, turn.asked.getAndIncrement());
    assertTrue(turn.awaitSharersOfCaller());
    assertEquals(1, stopped.notes);
  }

  @Test
  void aSharerThatFailedLetsNobodyHaveTheTurn() {
    Counted failed = sharer();
    assertTrue(failed.enter(turn));
    StackOverflowError error = new StackOverflowError();
    turn.sharersFailure = error;
    failed.mark = StepTurn.Sharer.FAILED_WITHIN;
    assertFalse(turn.take(() -> true));
    assertSame(error, turn.failure);
    assertSame(error, assertThrows(StackOverflowError.class, turn::take));
    assertSame(error, assertThrows(StackOverflowError.class, turn::end));
  }

  /**
   * The store was closed beside a sharer that was still in the turn, because another had failed.
   */
  @Test
  void whoFailsInTheTurnDoesNotEndItBesideAnother() throws Exception {
    Counted healthy = sharer();
    Counted failed = sharer();
    assertTrue(healthy.enter(turn));
    assertTrue(failed.enter(turn));
    StackOverflowError error = new StackOverflowError();
    turn.sharersFailure = error;
    failed.mark = StepTurn.Sharer.FAILED_WITHIN;
    FutureTask<Throwable> ending = endingBesideASharer(error);
    healthy.hasNews = true;
    healthy.leave();
    assertNull(ending.get());
    assertEquals(0, healthy.notes);
    assertSame(error, assertThrows(StackOverflowError.class, turn::end));
  }

  /** A step failed in a thread that had the turn, before it had waited for all sharers. */
  @Test
  void theEndWaitsForSharersAfterAFailedStepToo() throws Exception {
    Counted sharing = sharer();
    assertTrue(sharing.enter(turn));
    StackOverflowError error = new StackOverflowError();
    turn.fail(error);
    FutureTask<Throwable> ending = endingBesideASharer(error);
    sharing.leave();
    assertNull(ending.get());
  }

  /** Starts to end the turn, which throws the error, and sees that this waits. */
  private FutureTask<Throwable> endingBesideASharer(Error error) throws InterruptedException {
    FutureTask<Throwable> ending =
        Threads.start(
            "ending", () -> assertSame(error, assertThrows(StackOverflowError.class, turn::end)));
    Thread.sleep(50);
    assertFalse(ending.isDone(), "it ended beside one that shares the turn");
    return ending;
  }

  /** A note that could not be taken let the end of the server wait for its own turn for ever. */
  @Test
  void anErrorWhileANoteIsTakenIsToldAndNobodyWaits() {
    StackOverflowError error = new StackOverflowError();
    StepTurn.Sharer sharer =
        new StepTurn.Sharer() {
          @Override
          void takeNote() {
            throw error;
          }

          @Override
          boolean isGone() {
            return false;
          }
        };
    turn.take();
    turn.add(sharer);
    turn.release();
    assertTrue(sharer.enter(turn));
    sharer.hasNews = true;
    sharer.leave();
    assertSame(error, assertThrows(StackOverflowError.class, turn::take));
    assertSame(error, assertThrows(StackOverflowError.class, turn::end));
    assertFalse(sharer.enter(turn));
  }

  @Test
  void aSharerThatHasGoneIsForgotten() {
    Counted gone = sharer();
    Counted other = sharer();
    gone.gone = true;
    for (int i = 0; i < 1_000; i++) {
      turn.take();
      turn.release();
    }
    gone.hasNews = true;
    other.hasNews = true;
    turn.take();
    assertEquals(0, gone.notes);
    assertEquals(1, other.notes);
  }

  /** It used to park, and got no carrier again as long as other virtual threads computed. */
  @Test
  void aVirtualThreadDoesNotParkWhileItHasTheTurn() throws Exception {
    Counted sharer = sharer();
    assertTrue(sharer.enter(turn));
    AtomicBoolean ends = new AtomicBoolean();
    CountDownLatch begins = new CountDownLatch(1);
    CountDownLatch taken = new CountDownLatch(1);
    try {
      Thread.startVirtualThread(() -> {
        begins.countDown();
        turn.take(() -> true);
        taken.countDown();
      });
      Threads.await(begins);
      for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
        Thread.startVirtualThread(() -> {
          while (!ends.get()) {
            Thread.onSpinWait();
          }
        });
      }
      Thread.sleep(200);
      sharer.leave();
      assertTrue(taken.await(10, TimeUnit.SECONDS));
    } finally {
      ends.set(true);
    }
  }

  /** A thread with the turn sees the stores of the sharers before it, and of none beside it. */
  @Test
  void aSharerAndATurnExcludeEachOther() throws Exception {
    int sharers = 3;
    long[] plain = new long[sharers];
    AtomicBoolean ends = new AtomicBoolean();
    List<FutureTask<Throwable>> running = new ArrayList<>();
    for (int i = 0; i < sharers; i++) {
      int mine = i;
      Counted sharer = sharer();
      running.add(
          Threads.start(
              "sharer " + i,
              () -> {
                while (!ends.get()) {
                  if (sharer.enter(turn)) {
                    plain[mine]++;
                    plain[mine]--;
                    sharer.leave();
                  }
                }
              }));
    }
    for (int i = 0; i < 20_000; i++) {
      turn.take();
      for (int mine = 0; mine < sharers; mine++) {
        assertEquals(0, plain[mine]++);
      }
      for (int mine = 0; mine < sharers; mine++) {
        assertEquals(1, plain[mine]--);
      }
      turn.release();
    }
    ends.set(true);
    for (FutureTask<Throwable> each : running) {
      assertNull(each.get());
    }
  }
}
