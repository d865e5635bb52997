package io.erda.client.shared;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

class TurnsTest {
  private static final byte[] KEY = {1};

  /**
   * Found by a tester: a thousand interrupted threads that merged one key all went on without a
   * turn, and made a fortieth of the changes that they make otherwise.
   */
  @Test
  void anInterruptedThreadWaitsForItsTurnAndStaysInterrupted() throws Exception {
    Turns turns = new Turns();
    ReentrantLock held = turns.await(KEY);
    FutureTask<ReentrantLock> second =
        new FutureTask<>(() -> {
          Thread.currentThread().interrupt();
          ReentrantLock turn = turns.await(KEY);
          assertTrue(Thread.interrupted(), "the interrupt is lost");
          return turn;
        });
    Thread thread = new Thread(second);
    thread.start();
    while (!held.hasQueuedThreads() && thread.isAlive()) {
      Thread.onSpinWait();
    }
    // Once more, while it waits.
    thread.interrupt();
    held.unlock();
    assertSame(held, second.get());
  }
}
