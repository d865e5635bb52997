/**
 * The binding of YCSB: {@link io.erda.ycsb.ErdaDb} does YCSB's operations on a store, and {@code
 * RecordFormat} says how a record's fields lie in a value ({@code FORMAT.md}).
 */
package io.erda.ycsb;
