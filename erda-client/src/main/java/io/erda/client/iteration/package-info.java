/**
 * Iterations over all keys: the table is READ in stretches, and the log for what the table names.
 *
 * <p>Read {@code Scan} first. {@code ScanOrder} has the order of the stretches, {@code ScanEntries}
 * what one holds, {@code KeyWordLookUp} and {@code KeyWordGroup} what is behind one key word. Why
 * every key is given once stands in {@code docs/decisions/2026-11-23-iterating.md}.
 */
package io.erda.client.iteration;
