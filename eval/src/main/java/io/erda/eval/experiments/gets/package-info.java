/** The latency of gets, compared with the least work of a get and with Redis. */
package io.erda.eval.experiments.gets;
