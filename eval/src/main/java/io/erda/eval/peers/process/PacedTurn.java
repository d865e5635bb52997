package io.erda.eval.peers.process;

import io.erda.eval.load.Latencies;
import io.erda.eval.load.LoadResult;
import java.util.function.LongSupplier;

/**
 * Gets and puts by one thread at a steady rate, as of a user who does not wait until the store is
 * ready for the next one: each is timed from when it was due, so that an operation that takes long
 * counts for those behind it, too (which is called coordinated omission where it does not).
 */
final class PacedTurn {
  private final PeerObjects objects;
  private final LongSupplier nanoTime;
  private final Latencies gets = new Latencies();
  private final Latencies puts = new Latencies();

  PacedTurn(PeerObjects objects, LongSupplier nanoTime) {
    this.objects = objects;
    this.nanoTime = nanoTime;
  }

  /** A get and a put in turns, one operation each {@code intervalNs}. */
  LoadResult run(long ns, long intervalNs) {
    gets.reset();
    puts.reset();
    long operations = Math.max(2, ns / intervalNs);
    long puttings = 0;
    long startNs = nanoTime.getAsLong();
    for (long i = 0; i < operations; i++) {
      long dueNs = startNs + i * intervalNs;
      while (nanoTime.getAsLong() - dueNs < 0) {
        Thread.onSpinWait();
      }
      if ((i & 1) == 0) {
        objects.get(objects.anyNumber());
        gets.record(nanoTime.getAsLong() - dueNs);
      } else {
        objects.put(objects.anyNumber());
        puts.record(nanoTime.getAsLong() - dueNs);
        puttings++;
      }
    }
    long elapsedNs = nanoTime.getAsLong() - startNs;
    return new LoadResult(
        operations, 0, puttings, elapsedNs, gets.percentiles(), puts.percentiles());
  }
}
