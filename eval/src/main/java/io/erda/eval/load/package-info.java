/**
 * YCSB load from a process of its own, timed in nanoseconds: the stock core workload, its
 * generators and the stock binding, with another loop around them, because YCSB's own client counts
 * microseconds.
 */
package io.erda.eval.load;
