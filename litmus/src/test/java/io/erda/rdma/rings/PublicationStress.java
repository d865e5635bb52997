package io.erda.rdma.rings;

import io.erda.litmus.Pool;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/**
 * A version word that is stored behind its object, beside a READ of the word and then of the
 * object: who sees the word sees the object. Memory and copies are production's.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "not published yet")
@Outcome(id = "9, 7", expect = Expect.ACCEPTABLE, desc = "the word and the whole object")
@Outcome(expect = Expect.FORBIDDEN, desc = "a word before its object")
@State
public class PublicationStress {
  private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG;
  private static final int OBJECT_BYTES = 24;
  private static final Pool POOL = new Pool(128);

  private final MemorySegment object = MemorySegment.ofArray(new long[] {7, 7, 7});
  private final long word = POOL.take();
  private final long objectAt = word + 64;
  private final MemorySegment own = MemorySegment.ofArray(new long[4]);
  private final SharedMemoryCopy copy = new SharedMemoryCopy();

  @Actor
  public void publishes() {
    POOL.memory().put(objectAt, object, 0, OBJECT_BYTES);
    POOL.memory().putLongRelease(word, 9);
  }

  @Actor
  public void reads(JJ_Result result) {
    read(word, 0, Long.BYTES);
    // As the device between two READs.
    VarHandle.acquireFence();
    result.r1 = own.get(WORD, 0);
    if (result.r1 != 0) {
      read(objectAt, 8, OBJECT_BYTES);
      long first = own.get(WORD, 8);
      boolean whole = first == own.get(WORD, 16) && first == own.get(WORD, 24);
      result.r2 = whole ? first : -1;
    }
  }

  private void read(long at, long to, int length) {
    MemorySegment shared = POOL.memory().segment();
    copy.load(shared, at, shared.address() + at, own, to, to, length);
  }
}
