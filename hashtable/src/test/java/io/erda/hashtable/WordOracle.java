package io.erda.hashtable;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;

/**
 * Knows which version words the entry of each key word may have; 0 stands for no entry. While an
 * operation is undecided, there are several. Another writer may replace words at any time.
 */
abstract class WordOracle implements OtherWriter.Listener {
  final Map<Long, long[]> oracle;
  private int offset;

  /** How often another writer has replaced the word of each key. */
  private final Map<Long, Integer> replaced = new TreeMap<>();

  WordOracle(Map<Long, long[]> oracle) {
    this.oracle = oracle;
    this.offset = 1000 * (1 + oracle.size());
  }

  @Override
  public final int newVersion() {
    return ++offset;
  }

  @Override
  public final void replaced(long key, long next, boolean durable) {
    if (durable) {
      oracle.put(key, new long[] {next});
    } else {
      undecided(key, next);
    }
    replaced.merge(key, 1, Integer::sum);
  }

  final int replacements(long key) {
    return replaced.getOrDefault(key, 0);
  }

  /** Notes what the words of a key may be, unless another writer has replaced them since. */
  final void decided(long key, int replacements, long... words) {
    if (replacements(key) == replacements) {
      oracle.put(key, words);
    }
  }

  /**
   * Notes the next word of a key. Until it is drained the key may have any word it might have
   * before, or the next: a process that died may have left several.
   */
  final void undecided(long key, long next) {
    long[] before = oracle.getOrDefault(key, new long[] {0});
    oracle.put(key, LongStream.concat(LongStream.of(before), LongStream.of(next)).toArray());
  }

  /** Whether a word is one of these, or the lock of one, which a crash has left. */
  static boolean isOneOf(long word, long[] allowed) {
    return Arrays.stream(allowed).anyMatch(w -> w == word || VersionWord.isLockOf(word, w));
  }
}
