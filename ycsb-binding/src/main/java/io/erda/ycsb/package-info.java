/**
 * The binding of YCSB, which lets YCSB measure a store of Erda.
 *
 * <p>Read {@link io.erda.ycsb.ErdaDb} first, which does YCSB's operations on a store. {@code
 * RecordFormat} says how a record's fields lie in a value, and {@code RecordKey} how Erda's key is
 * made ({@code FORMAT.md}).
 */
package io.erda.ycsb;
