package io.erda.client.iteration;

import io.erda.hashtable.Entry;
import io.erda.hashtable.Neighbourhood;

/**
 * The order in which an iteration takes the keys: by the low bits of their tags, as many as select
 * a home bucket in the table that it began with (the <em>base</em>). That order survives every
 * doubling, because a doubling only adds a higher bit: the keys of one bucket are then in two
 * buckets, as far apart as the old table was long.
 *
 * <p>A table that was halved has fewer buckets than the base. Then the order begins anew with that
 * table as its base, so that the remaining keys cost no more than one pass over the current table.
 * The order remembers which keys were {@link #isTaken taken}, by a condition on the tag.
 *
 * <p>The keys are taken by <em>stretches</em>: {@link #count} home buckets from {@link #first} on,
 * modulo {@link #modulus}. In a table of n buckets a stretch is n / modulus <em>ranges</em> of
 * neighbouring buckets, each of which one READ fetches, with the slots that its last bucket's
 * neighbourhood needs behind it.
 *
 * <p>In a table much larger than the base even one bucket of the base may be too many ranges. Such
 * a bucket is cut into parts by the bits above the base's, and the parts are taken in the order of
 * these bits reversed: then a further bit only cuts the parts that are left, and no part is taken
 * twice.
 */
public final class ScanOrder {
  /** The most entries that the READs of one stretch fetch. */
  static final int SLOTS_MAX = 4096;

  /** The most READs for one stretch, in one table or in two. */
  static final int RANGES_MAX = 64;

  private static final int PADDING = Neighbourhood.ENTRIES - 1;

  private long base;

  /** The keys that were taken in the order of earlier bases. */
  private Taken taken;

  /** The first bucket of the base that was not taken, or not wholly. */
  private long bucket;

  /** The number of parts that the bucket is cut into, log2, and the next part. */
  private int level;

  private long part;

  /** The most buckets that the next stretch may have. */
  private int countMax = 1;

  private int count;

  /**
   * @param buckets number of buckets of the table, the base
   */
  public ScanOrder(long buckets) {
    this(buckets, 0);
  }

  /**
   * @param buckets number of buckets of the table
   * @param nextBuckets number of buckets of the table that it is being resized into; 0: none. The
   *     smaller one is the base
   */
  public ScanOrder(long buckets, long nextBuckets) {
    this.base = fewest(buckets, nextBuckets);
  }

  /**
   * The progress of an iteration with one base: all buckets below {@code bucket} were taken, and
   * the parts of that bucket below {@code part}.
   *
   * @param before the progress with earlier bases; null when there were none
   */
  private record Taken(long base, long bucket, int level, long part, Taken before) {
    boolean has(long keyWord) {
      long itsBucket = Entry.bucket(keyWord, base);
      if (itsBucket != bucket || level == 0) {
        return itsBucket < bucket;
      }
      long itsPart = Entry.bucket(keyWord, base << level) / base;
      return Long.compareUnsigned(Long.reverse(itsPart), Long.reverse(part)) < 0;
    }
  }

  /** Whether an entry's key was taken under an earlier base. */
  boolean isTaken(long keyWord) {
    for (Taken one = taken; one != null; one = one.before) {
      if (one.has(keyWord)) {
        return true;
      }
    }
    return false;
  }

  /** Whether all keys were taken. */
  public boolean isAtEnd() {
    return bucket == base;
  }

  /**
   * Whether the order can continue with these tables. Otherwise {@link #take} begins it anew.
   *
   * @param buckets number of buckets of the table
   * @param nextBuckets number of buckets of the table that it is being resized into; 0: none
   */
  boolean fits(long buckets, long nextBuckets) {
    return fewest(buckets, nextBuckets) >= modulus();
  }

  private static long fewest(long buckets, long nextBuckets) {
    return nextBuckets == 0 ? buckets : Math.min(buckets, nextBuckets);
  }

  /**
   * Decides how long the next stretch is.
   *
   * @param buckets number of buckets of the table
   * @param nextBuckets number of buckets of the table that it is being resized into; 0: none
   */
  void take(long buckets, long nextBuckets) {
    if (!fits(buckets, nextBuckets)) {
      beginAnew(fewest(buckets, nextBuckets));
    }
    while ((buckets + nextBuckets) / modulus() > RANGES_MAX) {
      level++;
    }
    long ranges = (buckets + nextBuckets) / modulus();
    long fit = Math.min(SLOTS_MAX / ranges - PADDING, countMax);
    count = level > 0 ? 1 : (int) Math.min(fit, base - bucket);
  }

  private void beginAnew(long buckets) {
    if (bucket > 0 || level > 0) {
      taken = new Taken(base, bucket, level, part, taken);
    }
    base = buckets;
    bucket = 0;
    level = 0;
    part = 0;
  }

  /** Notes that the stretch was taken: the next one may be twice as long. */
  void taken() {
    if (level == 0) {
      bucket += count;
    } else {
      takePart();
    }
    countMax = Math.min(2 * countMax, SLOTS_MAX);
  }

  private void takePart() {
    // Adds one at the highest of the level's bits, and carries downwards.
    long reversed = (Long.reverse(part) >>> -level) + 1;
    if (reversed == 1L << level) {
      bucket++;
      level = 0;
      part = 0;
    } else {
      part = Long.reverse(reversed) >>> -level;
    }
  }

  /** Notes that the stretch was too long to read at once: the next one is half as long. */
  void tooLong() {
    countMax = Math.max(1, count / 2);
  }

  /** Number of home buckets of the stretch in one range. */
  int count() {
    return count;
  }

  /** Number of slots that the READ of one range fetches. */
  int slots() {
    return count + PADDING;
  }

  private long modulus() {
    return base << level;
  }

  private long first() {
    return bucket + part * base;
  }

  /** Number of ranges of the stretch in a table of {@code buckets}. */
  int ranges(long buckets) {
    return (int) (buckets / modulus());
  }

  /** The first bucket of a range. */
  long bucket(int range) {
    return first() + range * modulus();
  }
}
