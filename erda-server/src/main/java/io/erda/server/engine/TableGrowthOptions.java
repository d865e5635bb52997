package io.erda.server.engine;

/**
 * How the table grows while a server runs; the store does not record it.
 *
 * @param bucketsMax a table is not doubled beyond it
 * @param stretchSlots slots whose entries are moved in one step, at most
 * @param graceNs how long a table that was replaced can still be read: who reads it meets a new
 *     epoch anyway, so the grace only saves it an error
 */
public record TableGrowthOptions(long bucketsMax, int stretchSlots, long graceNs) {
  public static final TableGrowthOptions DEFAULT =
      new TableGrowthOptions(StoreGeometry.BUCKETS_MAX, 256, 1_000_000_000L);
}
