/**
 * Iterations over all keys: the table is READ in stretches, and then the objects in the log that
 * its entries name.
 *
 * <p>Read {@code Scan} first. {@code ScanOrder} has the order of the stretches, and {@code
 * ScanEntries} has the entries of one stretch. {@code KeyWordLookUp} and {@code KeyWordGroup} find
 * the keys of one key word. The proof that every key is returned once is in {@code
 * docs/decisions/2026-11-23-iterating.md}.
 */
package io.erda.client.iteration;
