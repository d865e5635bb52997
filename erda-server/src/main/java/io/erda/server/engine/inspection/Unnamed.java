package io.erda.server.engine.inspection;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongPredicate;

/**
 * Findings about entries whose key can't be told from what they name, or not for certain: kept by
 * the tag of the key word, until objects of the log turn out to be of keys that have it, or all of
 * the log was looked at. The head in a key word may be what is damaged, so the tag alone counts: 56
 * bits of the key's hash. Where two keys share them, both are named.
 */
final class Unnamed {
  /** More than that are told without a key at once: what is so damaged fits no list. */
  private static final int MOST = 100_000;

  private static final long TAG = (1L << 56) - 1;

  /** What was found about a tag, and the keys that were told of it. */
  private static final class About {
    final long keyWord;
    final List<String> findings = new ArrayList<>(1);
    final Set<ByteBuffer> keys = new HashSet<>(1);

    About(long keyWord) {
      this.keyWord = keyWord;
    }
  }

  private final Findings findings;
  private final Map<Long, About> byTag = new HashMap<>();
  private int count;

  Unnamed(Findings findings) {
    this.findings = findings;
  }

  void add(long keyWord, String what) {
    add(keyWord, null, what);
  }

  /**
   * Adds a finding.
   *
   * @param told the key that it was told of already, or null
   */
  void add(long keyWord, byte[] told, String what) {
    if (count >= MOST) {
      if (told == null) {
        findings.found(null, what);
      }
      return;
    }
    count++;
    About about = byTag.computeIfAbsent(keyWord & TAG, tag -> new About(keyWord));
    about.findings.add(what);
    if (told != null) {
      about.keys.add(ByteBuffer.wrap(told));
    }
  }

  boolean isEmpty() {
    return byTag.isEmpty();
  }

  /** Tells what was found about a key word, now that a key is known to have it. */
  void named(long keyWord, byte[] key) {
    About about = byTag.get(keyWord & TAG);
    if (about.keys.add(ByteBuffer.wrap(key))) {
      about.findings.forEach(what -> findings.found(key, what));
    }
  }

  /** Whether something was found about a key word, or one that differs in its head alone. */
  boolean wants(long keyWord) {
    return byTag.containsKey(keyWord & TAG);
  }

  /**
   * Tells without a key what no key was told of, and what may concern another key than the only one
   * that was told of it.
   *
   * @param shared whether two entries have a key word
   */
  void tellAll(LongPredicate shared) {
    for (About about : byTag.values()) {
      if (about.keys.isEmpty()) {
        about.findings.forEach(what -> findings.found(null, what));
      } else if (about.keys.size() == 1 && shared.test(about.keyWord)) {
        about.findings.forEach(
            what -> findings.found(null, what + "; or the object of another key of this hash"));
      }
    }
    byTag.clear();
  }
}
