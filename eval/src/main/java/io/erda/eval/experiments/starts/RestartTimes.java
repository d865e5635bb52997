package io.erda.eval.experiments.starts;

import io.erda.client.ErdaClient;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.ServedStore;
import io.erda.eval.process.ProcessException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Comparator;
import java.util.List;

/** The parts of the time from the start of a server's process to the first get that it served. */
public record RestartTimes(long jvmNs, long openNs, long firstGetNs) {
  public long totalNs() {
    return jvmNs + openNs + firstGetNs;
  }

  /**
   * Starts a server for a store whose server is gone, and gets an object.
   *
   * @param round each round gets a different object
   */
  public static RestartTimes measure(ServedStore store, Dataset dataset, int round) {
    MemorySegment into = Arena.ofAuto().allocate(dataset.valueBytes(), 8);
    int number = (int) ((round + 1) * 0x9E37_79B9L % dataset.objects());
    MemorySegment key = MemorySegment.ofArray(Dataset.key(number));
    long startNs = System.nanoTime();
    store.spawnAgain();
    store.server().awaitOpening();
    long openingNs = System.nanoTime();
    store.server().awaitServing();
    long servingNs = System.nanoTime();
    try (ErdaClient client = store.connect()) {
      long length = client.get(key, into);
      long endNs = System.nanoTime();
      if (length != dataset.valueBytes() || into.mismatch(dataset.value(number)) >= 0) {
        throw new ProcessException(
            "the first get after the restart returned something else than was put");
      }
      return new RestartTimes(openingNs - startNs, servingNs - openingNs, endNs - servingNs);
    }
  }

  /** The element with the median total. */
  public static RestartTimes median(List<RestartTimes> times) {
    return times.stream()
        .sorted(Comparator.comparingLong(RestartTimes::totalNs))
        .toList()
        .get(times.size() / 2);
  }
}
