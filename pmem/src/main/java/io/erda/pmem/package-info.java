/**
 * Persistent memory: the seam between Erda and the memory that holds its bytes.
 *
 * <p>Loads go straight to {@link io.erda.pmem.PersistentMemory#segment()}; every store of the
 * server's goes through the seam, so that it can be counted, delayed, and lost by a simulation.
 *
 * <ul>
 *   <li>{@link io.erda.pmem.MappedDirectory}: files, mapped; what a real store lives in.
 *   <li>{@link io.erda.pmem.HeapDirectory}: memory of this process; for tests and for volatile use.
 *   <li>{@link io.erda.pmem.CountedDirectory} and {@link io.erda.pmem.DelayedDirectory} wrap
 *       another directory, to count its stores or to emulate slower media.
 * </ul>
 *
 * <p>Work on mapped memory that may go away is done through {@link io.erda.pmem.MemoryGuard}, and
 * {@code MappedFault} says why a page is not there.
 *
 * <p>An implementer of this seam runs the suites {@code PersistentMemoryContract} and {@code
 * MemoryDirectoryContract} of this module's test-jar.
 */
package io.erda.pmem;
