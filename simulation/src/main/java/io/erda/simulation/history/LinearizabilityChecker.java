package io.erda.simulation.history;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.LongFunction;

/**
 * Checks that a history is linearizable, key by key: a register with put, get and delete, which
 * begins absent.
 *
 * <p>A crash needs no special treatment: linearizability of the whole history implies that an
 * acknowledged operation survives a crash (durable linearizability). So the history must not
 * require more than the store promised for the crash in question. Time: about a microsecond for
 * each operation while few operations of a key are open at once. Memory: some 50 bytes for each
 * operation.
 */
public final class LinearizabilityChecker {
  private final LongFunction<String> keyNames;
  private final LongFunction<String> valueNames;

  /** Names keys and values by their IDs. */
  public LinearizabilityChecker() {
    this(key -> "key " + key, value -> "v" + value);
  }

  /**
   * @param keyNames and {@code valueNames} their names in reports
   */
  public LinearizabilityChecker(LongFunction<String> keyNames, LongFunction<String> valueNames) {
    this.keyNames = keyNames;
    this.valueNames = valueNames;
  }

  /**
   * Checks a history whose recording has ended. The first key with a violation is reported, else
   * the first undecided one.
   *
   * @throws IllegalArgumentException when two puts of a key have the same value
   */
  public Verdict check(History history) {
    Map<Long, int[]> byKey = group(history);
    Verdict undecided = null;
    for (long key : new TreeSet<>(byKey.keySet())) {
      OrderSearch search = new OrderSearch(history, byKey.get(key));
      switch (search.search()) {
        case UNEXPLAINED -> {
          return new Verdict.Violation(
              key, new ViolationReport(history, search, keyNames, valueNames).text());
        }
        case UNDECIDED ->
            undecided = new Verdict.Undecided(key, keyNames.apply(key) + ": " + search.trouble());
        case EXPLAINED -> {}
      }
    }
    return undecided != null ? undecided : new Verdict.Linearizable(history.size(), byKey.size());
  }

  /** The operations of each key, cut to length. */
  private static Map<Long, int[]> group(History history) {
    Map<Long, int[]> byKey = new HashMap<>();
    Map<Long, int[]> counts = new HashMap<>();
    for (int i = 0; i < history.size(); i++) {
      counts.computeIfAbsent(history.key(i), key -> new int[1])[0]++;
    }
    counts.forEach((key, count) -> byKey.put(key, new int[count[0]]));
    counts.values().forEach(count -> Arrays.fill(count, 0));
    for (int i = 0; i < history.size(); i++) {
      byKey.get(history.key(i))[counts.get(history.key(i))[0]++] = i;
    }
    return byKey;
  }
}
