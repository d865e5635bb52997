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
 * Findings about entries whose key is unknown or uncertain. They are kept by the tag of the key
 * word, until an object of the log has a key with that tag, or the whole log was read. Findings are
 * assigned by the tag, 56 bits of the key's hash, and not by the head, because the head in a key
 * word may be damaged. When two keys share a tag, both are reported.
 */
final class Unnamed {
  /**
   * The most findings that are kept. Further findings are reported at once, without a key; so long
   * a list would be useless.
   */
  private static final int MOST = 100_000;

  private static final long TAG = (1L << 56) - 1;

  /** The findings about a tag, and the keys that were reported with them. */
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
   * @param told the key with which it was reported already, or null
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

  /** Reports the findings about a key word, now that a key is known to have it. */
  void named(long keyWord, byte[] key) {
    About about = byTag.get(keyWord & TAG);
    if (about.keys.add(ByteBuffer.wrap(key))) {
      about.findings.forEach(what -> findings.found(key, what));
    }
  }

  /** Whether there are findings about this key word, or about one that differs only in its head. */
  boolean wants(long keyWord) {
    return byTag.containsKey(keyWord & TAG);
  }

  /**
   * Reports without a key all findings for which no key was found, and those that may concern
   * another key than the reported one.
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
