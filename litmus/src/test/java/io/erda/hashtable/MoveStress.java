package io.erda.hashtable;

import io.erda.litmus.Pool;
import io.erda.litmus.Stretch;
import io.erda.pmem.PersistentMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.J_Result;

/**
 * An entry that is moved up, beside a reader that looks at its neighbourhood from the end to the
 * beginning, as the words of a READ may come: found, or the structure counter says to look again.
 */
@JCStressTest
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "found")
@Outcome(id = "2", expect = Expect.ACCEPTABLE_INTERESTING, desc = "missed, and the counter says so")
@Outcome(expect = Expect.FORBIDDEN, desc = "taken for absent")
@State
public class MoveStress {
  private static final VarHandle WORD =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
  private static final long BUCKETS = 2;
  private static final long KEY = 0x100L | 1;
  private static final int FROM = 1;
  private static final int TO = 16;
  private static final long TABLE_BYTES = HashTable.bytesFor(BUCKETS) + 63 & -64;
  private static final Pool POOL = new Pool(TABLE_BYTES + 64);

  private final long at = POOL.take();
  private final PersistentMemory part = new Stretch(POOL.memory(), at, TABLE_BYTES);
  private final MemorySegment table = part.segment();
  private final EntryLocks locks = new EntryLocks(part);
  private final Displacement displacement = new Displacement(part, new Counter(), BUCKETS, locks);

  public MoveStress() {
    locks.share();
    table.set(ValueLayout.JAVA_LONG, TableLayout.entryOffset(FROM), KEY);
    table.set(ValueLayout.JAVA_LONG, TableLayout.entryOffset(FROM) + 8, 0x40);
  }

  @Actor
  public void moves() {
    displacement.move(FROM, TO);
  }

  @Actor
  public void looks(J_Result result) {
    long before = counter();
    boolean found = false;
    for (int slot = TO; slot >= FROM; slot--) {
      long offset = TableLayout.entryOffset(slot);
      long word = (long) WORD.getAcquire(table, offset + 8);
      long key = (long) WORD.getAcquire(table, offset);
      found |= word != 0 && key == KEY;
    }
    VarHandle.acquireFence();
    long after = counter();
    result.r1 = found ? 1 : before != after || (before & 1) != 0 ? 2 : 3;
  }

  private long counter() {
    return (long) WORD.getAcquire(POOL.memory().segment(), at + TABLE_BYTES);
  }

  /** As the server's, over production's memory. */
  private final class Counter implements StructureCounter {
    @Override
    public void beginMove() {
      POOL.memory().putLongRelease(at + TABLE_BYTES, counter() | 1);
      VarHandle.storeStoreFence();
    }

    @Override
    public void endMove() {
      POOL.memory().putLongRelease(at + TABLE_BYTES, (counter() | 1) + 1);
    }
  }
}
