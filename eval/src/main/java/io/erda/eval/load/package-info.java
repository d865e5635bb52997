/**
 * YCSB load from a separate process, timed in nanoseconds: the stock core workload, its generators
 * and the stock binding, in a different loop, because YCSB's own client counts microseconds.
 */
package io.erda.eval.load;
