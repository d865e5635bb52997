package io.erda.server.engine.files;

/**
 * How the table grows and shrinks while a server runs; the store does not record it.
 *
 * @param bucketsMax a table is not doubled beyond it
 * @param stretchSlots slots whose entries are moved in one step, at most
 * @param graceNs how long a table that was replaced can still be read: who reads it meets a new
 *     epoch anyway, so the grace only saves it an error
 * @param bucketsPerEntryHalved a table that has so many buckets for each entry, or more, is halved
 */
public record TableGrowthOptions(
    long bucketsMax, int stretchSlots, long graceNs, int bucketsPerEntryHalved) {
  /**
   * After a halving at this load the new table is at an eighth, so that it takes three times as
   * many keys again before it doubles.
   */
  private static final int BUCKETS_PER_ENTRY_HALVED = 16;

  public static final TableGrowthOptions DEFAULT =
      new TableGrowthOptions(StoreGeometry.BUCKETS_MAX, 256, 1_000_000_000L);

  /** Options for a table that is halved at the usual load. */
  public TableGrowthOptions(long bucketsMax, int stretchSlots, long graceNs) {
    this(bucketsMax, stretchSlots, graceNs, BUCKETS_PER_ENTRY_HALVED);
  }
}
