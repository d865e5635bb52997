package io.erda.client.shared;

import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * The pauses of a caller whose changes of a key come too late because others change the key, too.
 * Without pauses nearly every change of many callers comes too late: 64 threads together make a
 * tenth of the changes that they make with pauses, and 500 threads a twentieth. The pauses are
 * random, and their bound doubles. A few callers are quicker without, so the first attempts are
 * made at once.
 */
final class BackOff {
  private static final int AT_ONCE = 12;
  private static final long FIRST_NS = 1 << 17;
  private static final long LONGEST_NS = 1 << 27;

  private int late;
  private long boundNs = FIRST_NS;

  /** Null before the first pause. */
  private SplittableRandom random;

  /**
   * Pauses after a change that came too late. An interrupted thread pauses as well, and stays
   * interrupted.
   */
  void pause() {
    if (late < AT_ONCE) {
      late++;
      Thread.yield();
      return;
    }
    if (random == null) {
      // It differs from call to call, so no thread always has the shorter pauses.
      random = new SplittableRandom(System.identityHashCode(this));
    }
    boolean interrupted = Thread.interrupted();
    LockSupport.parkNanos(this, random.nextLong(boundNs));
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    boundNs = Math.min(2 * boundNs, LONGEST_NS);
  }
}
