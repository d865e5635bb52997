package io.erda.rdma.rings;

import io.erda.litmus.Pool;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/**
 * A message of the shm ring and a concurrent consumer, which finds either no message or the whole
 * message.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "not there yet")
@Outcome(id = "16, 7", expect = Expect.ACCEPTABLE, desc = "whole")
@Outcome(expect = Expect.FORBIDDEN, desc = "torn, or a header that can't be")
@State
public class RingStress {
  private static final Pool POOL = new Pool(256);
  private static final long CONSUMED = 0;
  private static final long RING = 64;

  private final MemorySegment message = MemorySegment.ofArray(new long[] {7, 7});
  private final MemorySegment read = MemorySegment.ofArray(new long[2]);
  private final Ring.Producer producer;
  private final Ring.Consumer consumer;

  public RingStress() {
    // Only the beginning of the ring is touched.
    MemorySegment queue =
        POOL.memory().segment().asSlice(POOL.take()).reinterpret(RING + QueueLayout.RING_BYTES);
    producer = new Ring.Producer(queue, RING, CONSUMED);
    consumer = new Ring.Consumer(queue, RING, CONSUMED);
  }

  @Actor
  public void offers() {
    producer.offer(Ring.TYPE_SEND, 0, message, 0, 16);
  }

  @Actor
  public void takes(JJ_Result result) {
    long header = consumer.next();
    if (header != Ring.EMPTY) {
      result.r1 = header == Ring.FAULT ? -1 : Ring.length(header);
      consumer.copyTo(read, 0, 16);
      long first = read.get(QueueLayout.LONG, 0);
      result.r2 = first == read.get(QueueLayout.LONG, 8) ? first : -1;
    }
  }
}
