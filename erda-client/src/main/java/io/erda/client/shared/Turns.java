package io.erda.client.shared;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The turns of threads whose changes of one key come too late because others change the key, too.
 * Thousands of threads that all read and swap fill the queue for the pool's clients, so that nearly
 * every swap comes too late, and none gets on. One that has its turn competes with few. Any thread.
 */
final class Turns {
  private static final int STRIPES = 64;

  /** How long a thread waits for its turn, from an interrupt on, before it tries without one. */
  private static final long WAIT_S = 10;

  private final ReentrantLock[] stripes = new ReentrantLock[STRIPES];

  Turns() {
    Arrays.setAll(stripes, _ -> new ReentrantLock(true));
  }

  /**
   * Waits for the turn of a key, which it may share with other keys. Returns null after a while:
   * then the caller goes on without a turn. Whoever gets a turn unlocks it. An interrupted thread
   * waits as well, and stays interrupted: a pool that is shut down at once interrupts all its
   * threads, which would compete with each other.
   */
  ReentrantLock await(byte[] key) {
    ReentrantLock turn = stripes[Math.floorMod(Arrays.hashCode(key), STRIPES)];
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return turn.tryLock(WAIT_S, TimeUnit.SECONDS) ? turn : null;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
