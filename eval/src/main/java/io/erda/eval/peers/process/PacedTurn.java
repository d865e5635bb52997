package io.erda.eval.peers.process;

import io.erda.eval.load.Latencies;
import io.erda.eval.load.LoadResult;
import java.util.function.LongSupplier;

/**
 * Gets and puts by one thread at a steady rate, as for users who do not wait for the store: each is
 * timed from when it was due, so that a slow operation also counts as a delay of later ones (which
 * avoids coordinated omission).
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

  /** Runs gets and puts in turn, one operation each {@code intervalNs}. */
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
