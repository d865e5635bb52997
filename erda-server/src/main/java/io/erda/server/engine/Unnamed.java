package io.erda.server.engine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Findings about entries whose key can't be told from what they name: kept by the tag of the key
 * word, until an object of the log turns out to be that key's, or all of it was looked at. The head
 * in a key word may be what is damaged, so the tag alone counts: 56 bits of the key's hash.
 */
final class Unnamed {
  /** More than that are told without a key at once: what is so damaged fits no list. */
  private static final int MOST = 100_000;

  private static final long TAG = (1L << 56) - 1;

  private final Findings findings;
  private final Map<Long, List<String>> byTag = new HashMap<>();
  private int count;

  Unnamed(Findings findings) {
    this.findings = findings;
  }

  void add(long keyWord, String what) {
    if (count >= MOST) {
      findings.found(null, what);
    } else {
      count++;
      byTag.computeIfAbsent(keyWord & TAG, tag -> new ArrayList<>(1)).add(what);
    }
  }

  boolean isEmpty() {
    return byTag.isEmpty();
  }

  /** Tells what was found about a key word, now that a key is known to have it. */
  void named(long keyWord, byte[] key) {
    byTag.remove(keyWord & TAG).forEach(what -> findings.found(key, what));
  }

  /** Whether something was found about a key word, or one that differs in its head alone. */
  boolean wants(long keyWord) {
    return byTag.containsKey(keyWord & TAG);
  }

  /** Tells what is left, without keys. */
  void tellAll() {
    byTag.values().forEach(all -> all.forEach(what -> findings.found(null, what)));
    byTag.clear();
  }
}
