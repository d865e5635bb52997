package io.erda.pmem;

import java.lang.foreign.MemorySegment;

/**
 * A contiguous range of persistent memory.
 *
 * <p>Loads go straight to {@link #segment()}. Every store goes through {@link #put} or {@link
 * #putLongRelease}: an implementation may count, delay or lose stores, and a store that bypasses it
 * is a defect.
 *
 * <p>Every implementation guarantees the following. {@code putLongRelease} is one atomic 8-byte
 * store with release semantics. {@code put} never tears an 8-aligned word that lies whole in its
 * range, when the source is native memory and agrees with the destination mod 8. Bytes that were
 * flushed before a {@link #drain()} have the promise of {@link #survives()} after it. Other bytes
 * may or may not survive, word by word.
 *
 * <p>Erda does not depend on the whole words of {@code put}: words that readers look at go through
 * {@code putLongRelease}, and all other bytes have a checksum. The simulation depends on them,
 * because it loses stores word by word.
 *
 * <p>Stores by several threads are allowed to disjoint places. {@code flush} and {@code drain} of
 * one thread cover that thread's stores. The creator owns the memory and closes it; {@link
 * #segment()} is invalid after that.
 */
public interface PersistentMemory extends AutoCloseable {
  /** The bytes, for loads. Length is {@link Backing#length()}; 8-aligned at offset 0. */
  MemorySegment segment();

  /**
   * Stores {@code length} bytes of {@code source} from {@code sourceOffset} at {@code offset}.
   * Order within is free. The two ranges do not overlap.
   *
   * @throws IndexOutOfBoundsException when one of the ranges is not within its segment; then
   *     nothing is stored
   * @throws FailedStoreException when the file system has no room for a page of it, or failed; some
   *     of the bytes may be stored
   */
  void put(long offset, MemorySegment source, long sourceOffset, long length);

  /**
   * Stores one little-endian 8-byte word atomically, after all stores this thread made before.
   *
   * @throws IllegalArgumentException when {@code offset} is not 8-aligned
   * @throws FailedStoreException when the file system has no room for its page, or failed; then the
   *     word is what it was
   */
  void putLongRelease(long offset, long value);

  /** Starts write-back of the cache lines that hold {@code [offset, offset + length)}. */
  void flush(long offset, long length);

  /**
   * Waits until everything this thread flushed has the promise of {@link #survives()}.
   *
   * @throws java.io.UncheckedIOException when the device failed; from then on every drain of this
   *     memory fails, and what was flushed since the last drain that did not fail is lost or not,
   *     word by word
   */
  void drain();

  /**
   * Makes the pages of a range present and writable in this process, so that storing there soon
   * takes no page fault. A hint: changes no byte, fails silently, and takes as long as the kernel
   * takes. From any thread, also while others store.
   */
  default void populate(long offset, long length) {}

  /**
   * Says that a range is loaded soon, from its beginning to its end, so that its missing pages are
   * read meanwhile. A hint, which takes as long as the kernel needs to find memory. To be given by
   * pieces of some hundred KiB: of a longer range the kernel may read only the beginning. From any
   * thread.
   */
  default void readAhead(long offset, long length) {}

  /**
   * Gives back the pages of a range that nobody uses any more: its bytes are lost for every process
   * that maps it, and loads find zeros or the former bytes. A hint: fails silently. It makes
   * closing a large memory whose name is gone quick.
   */
  default void discard(long offset, long length) {}

  /** The strongest failure that drained bytes survive. */
  Survives survives();

  /**
   * Whether a store that others already see may still be lost by the failure that {@link
   * #survives()} names (memory controller domain, synchronised files). Where true, a word is first
   * stored pending, drained, then committed (design, "A put").
   */
  boolean visibleBeforeDurable();

  /** Whether a drain waits for a device. Then any thread may call {@link #drain()} for others. */
  default boolean drainWaitsForDevice() {
    return false;
  }

  /** Where another process finds the same bytes. */
  Backing backing();

  /** Releases the mapping. Nothing is implied about durability: drain first. */
  @Override
  void close();
}
