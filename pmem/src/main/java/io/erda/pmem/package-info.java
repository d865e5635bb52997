/**
 * Persistent memory: the seam between Erda and what its bytes live in.
 *
 * <p>Loads go straight to {@link io.erda.pmem.PersistentMemory#segment()}; every store of the server's goes through the seam, so that
 * it can be counted, delayed, and lost by a simulation.
 */
package io.erda.pmem;
