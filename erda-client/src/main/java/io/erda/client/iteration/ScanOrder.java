package io.erda.client.iteration;

import io.erda.hashtable.Entry;
import io.erda.hashtable.Neighbourhood;

/**
 * The order in which an iteration takes the keys: by the low bits of their tags, as many as the
 * home buckets of the table had when it began (the <em>base</em>). That order outlives every
 * doubling, because a doubling only adds a bit above: the keys of one bucket are those of two
 * buckets then, as far apart as the old table was long.
 *
 * <p>A table that was halved has fewer buckets than the base. Then the order begins anew, with that
 * table as its base, so that what is left costs no more than the table of now; and it remembers
 * what was {@link #isTaken taken}, which is a condition on the tag alone and stays so for good.
 *
 * <p>The keys are taken by <em>stretches</em>: {@link #count} home buckets from {@link #first} on,
 * modulo {@link #modulus}. In a table of n buckets a stretch is n / modulus <em>ranges</em> of
 * neighbouring buckets, each of which one READ fetches, with the slots that its last bucket's
 * neighbourhood needs behind it.
 *
 * <p>A table that has become much larger than the base would make even one bucket of the base more
 * ranges than fit. Such a bucket is cut into parts by the bits above the base's, and the parts are
 * taken in the order of these bits reversed: then a further bit only cuts the parts that are left,
 * and none that was taken comes again.
 */
public final class ScanOrder {
  /** Entries that the READs of one stretch fetch at most. */
  static final int SLOTS_MAX = 4096;

  /** READs for one stretch at most, in one table or in two. */
  static final int RANGES_MAX = 64;

  private static final int PADDING = Neighbourhood.ENTRIES - 1;

  private long base;

  /** The keys that were taken in the order of earlier bases. */
  private Taken taken;

  /** The first bucket of the base that was not taken, or not wholly. */
  private long bucket;

  /** Into how many parts it is cut, log2; and the part that comes next. */
  private int level;

  private long part;

  /** Buckets that the next stretch has at most. */
  private int countMax = 1;

  private int count;

  /**
   * @param buckets of the table, the base
   */
  public ScanOrder(long buckets) {
    this(buckets, 0);
  }

  /**
   * @param buckets of the table
   * @param nextBuckets of the table that it is being resized into; 0: of none. The smaller one is
   *     the base
   */
  public ScanOrder(long buckets, long nextBuckets) {
    this.base = fewest(buckets, nextBuckets);
  }

  /**
   * How far an iteration came while the table had one base: all buckets below {@code bucket} were
   * taken, and of that bucket the parts below {@code part}.
   *
   * @param before how far it came with the bases before this one; null: there was none
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

  /** Whether an entry's key was taken in an order of which only this is remembered. */
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
   * Whether the order can go on as it is. Where it can't, {@link #take} begins it anew.
   *
   * @param buckets of the table
   * @param nextBuckets of the table that it is being resized into; 0: of none
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
   * @param buckets of the table
   * @param nextBuckets of the table that it is being resized into; 0: of none
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

  /** The stretch was taken: the next one may be twice as long. */
  void taken() {
    if (level == 0) {
      bucket += count;
    } else {
      takePart();
    }
    countMax = Math.min(2 * countMax, SLOTS_MAX);
  }

  private void takePart() {
    // One is added at the highest of the level's bits, and carried downwards.
    long reversed = (Long.reverse(part) >>> -level) + 1;
    if (reversed == 1L << level) {
      bucket++;
      level = 0;
      part = 0;
    } else {
      part = Long.reverse(reversed) >>> -level;
    }
  }

  /** The stretch could not be read in one go: the next one is half as long. */
  void tooLong() {
    countMax = Math.max(1, count / 2);
  }

  /** Home buckets of the stretch in one range. */
  int count() {
    return count;
  }

  /** Slots that the READ of one range fetches. */
  int slots() {
    return count + PADDING;
  }

  private long modulus() {
    return base << level;
  }

  private long first() {
    return bucket + part * base;
  }

  /** Ranges of the stretch in a table of so many buckets. */
  int ranges(long buckets) {
    return (int) (buckets / modulus());
  }

  /** The first bucket of a range. */
  long bucket(int range) {
    return first() + range * modulus();
  }
}
