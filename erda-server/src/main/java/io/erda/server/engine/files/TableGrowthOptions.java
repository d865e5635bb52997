package io.erda.server.engine.files;

/**
 * How the table grows and shrinks while a server runs; not recorded in the store.
 *
 * @param bucketsMax the most buckets to which a table is doubled
 * @param stretchSlots the most slots whose entries are moved in one step
 * @param graceNs how long a replaced table stays readable: its readers see a new epoch anyway, so
 *     this only saves them an error
 * @param bucketsPerEntryHalved a table with at least this many buckets for each entry is halved
 */
public record TableGrowthOptions(
    long bucketsMax, int stretchSlots, long graceNs, int bucketsPerEntryHalved) {
  /**
   * A table halved at this load is one eighth full, so that its keys can triple before it doubles
   * again.
   */
  private static final int BUCKETS_PER_ENTRY_HALVED = 16;

  public static final TableGrowthOptions DEFAULT =
      new TableGrowthOptions(StoreGeometry.BUCKETS_MAX, 256, 1_000_000_000L);

  /** Options for a table that is halved at the usual load. */
  public TableGrowthOptions(long bucketsMax, int stretchSlots, long graceNs) {
    this(bucketsMax, stretchSlots, graceNs, BUCKETS_PER_ENTRY_HALVED);
  }
}
