package io.erda.client.iteration;

import io.erda.client.gets.PendingVersions;
import io.erda.hashtable.Entry;
import io.erda.hashtable.Neighbourhood;
import io.erda.hashtable.VersionWord;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The entries of one stretch of an iteration, each key word once. When a key word was found twice,
 * because its entry was moved to the new table between two READs or because two keys share it,
 * {@link #versionWord} is {@link #LOOK_UP}: the key word must be looked up separately. The same
 * holds for a pending word when puts announce first.
 */
final class ScanEntries {
  /** Stands for a version word when the key word must be looked up. */
  static final long LOOK_UP = 0;

  private static final int PLACES_MAX = 4 * ScanOrder.SLOTS_MAX;
  private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

  private final long[] keyWords = new long[ScanOrder.SLOTS_MAX];
  private final long[] versionWords = new long[ScanOrder.SLOTS_MAX];

  /**
   * A hash table with open addressing, by the key word's spread bits: the key word's index plus
   * one, or 0 when free.
   */
  private final int[] places = new int[PLACES_MAX];

  private int shift;
  private int mask;
  private int size;

  /** The order, which knows the key words that were already taken. */
  private ScanOrder order;

  /**
   * Begins a stretch of an order.
   *
   * @param slots how many slots may hold its entries
   */
  void clear(int slots, ScanOrder ofStretch) {
    order = ofStretch;
    int bits = 64 - Long.numberOfLeadingZeros(2L * slots);
    shift = Long.SIZE - bits;
    mask = (1 << bits) - 1;
    Arrays.fill(places, 0, 1 << bits, 0);
    size = 0;
  }

  int size() {
    return size;
  }

  long keyWord(int index) {
    return keyWords[index];
  }

  long versionWord(int index) {
    return versionWords[index];
  }

  /**
   * Takes the entries of one READ of a table whose home is in the range, wherever in its
   * neighbourhood they lie.
   *
   * @param at where the copy begins in {@code memory}
   * @param slots number of slots that were fetched
   * @param first the first bucket of the range
   * @param count number of buckets of the range
   * @param buckets number of buckets of the table
   * @param announces whether the newest version of a pending word may count
   */
  void collect(
      MemorySegment memory,
      long at,
      int slots,
      long first,
      int count,
      long buckets,
      boolean announces) {
    for (int i = 0; i < slots; i++) {
      long versionWord = Neighbourhood.versionWord(memory, at, i);
      long keyWord = Neighbourhood.keyWord(memory, at, i);
      boolean undecided = announces && PendingVersions.counts(versionWord);
      // The entry is free, was moved to the new table, or has an undecided first version.
      boolean valueless =
          keyWord == 0
              || versionWord == 0
              || (!undecided && VersionWord.committed(versionWord) == VersionWord.NONE);
      if (!valueless
          && isHome(Entry.bucket(keyWord, buckets) - first, count)
          && !order.isTaken(keyWord)) {
        add(keyWord, undecided ? LOOK_UP : versionWord);
      }
    }
  }

  /**
   * Whether an entry belongs to the range.
   *
   * @param bucket its home, relative to the range's first bucket
   */
  private static boolean isHome(long bucket, int count) {
    return bucket >= 0 && bucket < count;
  }

  private void add(long keyWord, long versionWord) {
    int place = (int) (keyWord * SPREAD >>> shift);
    while (places[place] != 0) {
      if (keyWords[places[place] - 1] == keyWord) {
        versionWords[places[place] - 1] = LOOK_UP;
        return;
      }
      place = place + 1 & mask;
    }
    keyWords[size] = keyWord;
    versionWords[size] = versionWord;
    places[place] = ++size;
  }
}
