/** The cost of cleaning the log, in latency, throughput and space. */
package io.erda.eval.experiments.cleaning;
