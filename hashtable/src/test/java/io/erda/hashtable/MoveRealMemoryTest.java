package io.erda.hashtable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * A reader's neighbourhood and counter against a table that moves entries, on two real threads:
 * what is always there is never absent by the reader's rule. {@code -Derda.litmus.seconds=N} for
 * longer than 1. {@code ReaderTest} tries every order of the single loads and stores; this one
 * those that the machine and the compiler really make.
 *
 * <p>A reader that does not look at the counter has to be found. Two things can't be shown on x86.
 * The fence behind the odd counter can be left out: stores are not reordered. And a reader that
 * copies upwards, as the shm device does, finds every entry without the counter: entries move
 * upwards only, the new place is stored before the old one is cleared, and loads are not reordered.
 * So this reader copies downwards; the words of an RDMA READ come in any order.
 */
@Timeout(value = 60, unit = java.util.concurrent.TimeUnit.MINUTES)
class MoveRealMemoryTest {
  private static final long BUCKETS = 64;
  private static final int STABLE = 30;
  private static final long RUN_NS = Long.getLong("erda.litmus.seconds", 1) * 1_000_000_000L;

  /** On a quiet machine what is broken is found in well under this. */
  private static final long FOUND_NS = 30_000_000_000L;

  private static final VarHandle WORD =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  private final PlainMemory memory = new PlainMemory(HashTable.bytesFor(BUCKETS));
  private final MemorySegment root = Arena.ofAuto().allocate(64, 64);
  private final SplittableRandom random = new SplittableRandom(Long.getLong("erda.seed", 1));
  private long moves;

  /** A structure counter that changes as the server's does. */
  private final class RootCounter implements StructureCounter {
    @Override
    public void beginMove() {
      WORD.setRelease(root, 0L, (long) WORD.get(root, 0L) | 1);
      VarHandle.storeStoreFence();
      moves++;
    }

    @Override
    public void endMove() {
      WORD.setRelease(root, 0L, ((long) WORD.get(root, 0L) | 1) + 1);
    }
  }

  @Test
  void whatIsThereIsNeverAbsent() throws Exception {
    assertEquals(0, missed(new RootCounter(), true, RUN_NS));
    assertTrue(moves > 10, "moves " + moves);
  }

  /** This needs two cores without other work, so it runs only on request. */
  @Test
  @EnabledIfSystemProperty(named = "erda.litmus.seconds", matches = ".*")
  void aReaderThatDoesNotLookAtTheCounterIsFound() throws Exception {
    assertNotEquals(0, missed(new RootCounter(), false, FOUND_NS));
  }

  private static long key(long home, long number) {
    return number << 8 | home;
  }

  /** Reads until a key that is there is absent, or the time is over. Returns the key or 0. */
  private long missed(StructureCounter counter, boolean looks, long forNs) throws Exception {
    HashTable table = HashTable.create(memory, BUCKETS, counter);
    for (int i = 0; i < STABLE; i++) {
      assertTrue(table.insert(key(i, 1), VersionWord.first(i + 1, false)) != HashTable.NONE);
    }
    long until = System.nanoTime() + forNs;
    boolean[] stop = new boolean[1];
    Thread mover =
        new Thread(() -> {
          while (!stopped(stop) && System.nanoTime() < until) {
            insertAndEmpty(table);
          }
        });
    AtomicReference<Throwable> failure = new AtomicReference<>();
    mover.setUncaughtExceptionHandler((thread, e) -> failure.set(e));
    mover.start();
    long missed = 0;
    MemorySegment copy = Arena.ofAuto().allocate(Neighbourhood.BYTES, 64);
    for (int i = 0; missed == 0 && System.nanoTime() < until; i = (i + 1) % STABLE) {
      missed = isAbsent(key(i, 1), copy, looks) ? key(i, 1) : 0;
    }
    synchronized (stop) {
      stop[0] = true;
    }
    mover.join();
    assertEquals(null, failure.get());
    return missed;
  }

  private static boolean stopped(boolean[] stop) {
    synchronized (stop) {
      return stop[0];
    }
  }

  /** Fills the table with others until entries have to move, then empties their places. */
  private void insertAndEmpty(HashTable table) {
    List<long[]> others = new ArrayList<>();
    for (int i = 0; i < 25; i++) {
      long key = key(random.nextInt(30), 2 + random.nextInt(1 << 20));
      if (table.insert(key, VersionWord.first(100 + i, false)) != HashTable.NONE) {
        others.add(new long[] {key, 100 + i});
      }
    }
    for (long[] other : others) {
      long slot = table.find(other[0], (at, word) -> VersionWord.newest(word) == (int) other[1]);
      assertTrue(table.empty(slot, other[0], table.versionWord(slot)));
    }
  }

  /**
   * The reader's rule: counter, neighbourhood, counter. The words from the end to the beginning, as
   * a READ may bring them.
   */
  private boolean isAbsent(long key, MemorySegment copy, boolean looks) {
    long before = (long) WORD.getAcquire(root, 0L);
    long from = Neighbourhood.offset(key, BUCKETS);
    for (int at = Neighbourhood.BYTES - 8; at >= 0; at -= 8) {
      copy.set(ValueLayout.JAVA_LONG, at, (long) WORD.getAcquire(memory.segment(), from + at));
    }
    VarHandle.acquireFence();
    long after = (long) WORD.getAcquire(root, 0L);
    return Neighbourhood.nextMatch(copy, 0, key, 0) < 0
        && (!looks || (before == after && (before & 1) == 0));
  }
}
