package io.erda.server.engine;

/**
 * How the table grows. Of a server's run, not of its store.
 *
 * @param bucketsMax a table is not doubled beyond it
 * @param stretchSlots slots whose entries are moved in one step, at most
 * @param graceNs how long a table that was replaced can still be read: who reads it meets a new
 *     epoch anyway, so this only spares them an error
 */
public record TableLimits(long bucketsMax, int stretchSlots, long graceNs) {
  public static final TableLimits DEFAULT =
      new TableLimits(StoreOptions.BUCKETS_MAX, 256, 1_000_000_000L);
}
