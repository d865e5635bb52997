package io.erda.protocol;

/**
 * The tables of a store, as its superblock names them. There is one table, or two while entries are
 * moved from one into the other, which has twice or half the buckets.
 *
 * @param generation number of the table, counted from 1
 * @param buckets number of buckets of that table
 * @param nextGeneration number of the table into which its entries are moved; 0: they are not moved
 * @param nextBuckets buckets of that other table; 0 when there is none
 * @param made the highest number that was given to a table of this store
 * @param bucketsLeast the least number of buckets to which the table is halved
 */
public record StoreTables(
    int generation,
    long buckets,
    int nextGeneration,
    long nextBuckets,
    int made,
    long bucketsLeast) {
  // Codes of the direction in a superblock.
  static final int NOT_RESIZED = 0;
  static final int DOUBLED = 1;
  static final int HALVED = 2;

  /** The table of a new store. */
  public static StoreTables first(long buckets) {
    return new StoreTables(1, buckets, 0, 0, 1, buckets);
  }

  /** Whether entries are moved from one table into another one. */
  public boolean resizing() {
    return nextGeneration != 0;
  }

  /** Whether the other table is the smaller one. */
  public boolean halving() {
    return nextGeneration != 0 && nextBuckets < buckets;
  }

  /** Returns the state in which entries are moved into a new table of twice or half the buckets. */
  public StoreTables withNext(long ofNext) {
    assert !resizing() : this + " is being resized";
    assert ofNext == 2 * buckets || 2 * ofNext == buckets && ofNext >= bucketsLeast
        : ofNext + " buckets after " + this;
    return new StoreTables(generation, buckets, made + 1, ofNext, made + 1, bucketsLeast);
  }

  /** Returns the state after all entries were moved: the other table is the only one. */
  public StoreTables withNextAlone() {
    assert resizing() : this + " is not being resized";
    return new StoreTables(nextGeneration, nextBuckets, 0, 0, made, bucketsLeast);
  }

  /** Returns the state in which entries are moved in the opposite direction. */
  public StoreTables turned() {
    assert resizing() : this + " is not being resized";
    return new StoreTables(nextGeneration, nextBuckets, generation, buckets, made, bucketsLeast);
  }

  /** Returns the state in which a new table, with the same entries, takes the place of another. */
  public StoreTables withCopyOf(int table) {
    assert table == generation || resizing() && table == nextGeneration : table + " of " + this;
    return table == generation
        ? new StoreTables(made + 1, buckets, nextGeneration, nextBuckets, made + 1, bucketsLeast)
        : new StoreTables(generation, buckets, made + 1, nextBuckets, made + 1, bucketsLeast);
  }

  /** The number of the direction in a superblock. */
  public int code() {
    return !resizing() ? NOT_RESIZED : halving() ? HALVED : DOUBLED;
  }

  /** The buckets of the other table, by the code in a superblock; 0 where there is none. */
  static long nextBuckets(int code, long buckets) {
    return switch (code) {
      case NOT_RESIZED -> 0;
      case DOUBLED -> 2 * buckets;
      case HALVED -> buckets / 2;
      default ->
          throw new ErdaException.Unusable(
              "superblock records that the table is resized in way "
                  + code
                  + ", which this program does not know");
    };
  }
}
