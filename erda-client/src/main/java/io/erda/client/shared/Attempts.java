package io.erda.client.shared;

import java.util.concurrent.locks.ReentrantLock;

/**
 * The attempts of one call to change a key that others change, too. After a few that came too late
 * the call waits for its turn among the calls of its map, and again after an attempt without a
 * turn. A call that comes too late in its turn, or that is nested, pauses. One thread.
 */
public final class Attempts implements AutoCloseable {
  private static final int AT_ONCE = 4;

  private final Turns turns;
  private final byte[] key;
  private final boolean nested;
  private int late;
  private ReentrantLock turn;

  /** Null before the first pause. */
  private BackOff backOff;

  /**
   * @param turns the turns of a map
   * @param nested whether a function that computes a key makes the call. It waits for no turn,
   *     because the outer call may have one for which another thread waits in its turn.
   */
  Attempts(Turns turns, byte[] key, boolean nested) {
    this.turns = turns;
    this.key = key;
    this.nested = nested;
  }

  /** Notes that an attempt came too late, and returns when the next one may begin. */
  public void late() {
    if (late < AT_ONCE) {
      late++;
      Thread.yield();
    } else if (turn == null && !nested) {
      turn = turns.await(key);
    } else {
      if (backOff == null) {
        backOff = new BackOff();
      }
      backOff.pause();
    }
  }

  /** Gives the turn to the next call. */
  @Override
  public void close() {
    if (turn != null) {
      turn.unlock();
    }
  }
}
