package io.erda.pmem;

import java.lang.foreign.MemorySegment;

/**
 * A contiguous range of persistent memory.
 *
 * <p>Loads go straight to {@link #segment()}. Every store goes through {@link #put}, {@link
 * #putLongRelease} or {@link #compareAndSetLong}: an implementation may count, delay or lose
 * stores, and a store that bypasses it is a defect.
 *
 * <p>Every implementation guarantees the following. {@code putLongRelease} is one atomic 8-byte
 * store with release semantics, and {@code compareAndSetLong} is atomic for all threads and
 * processes that map the bytes. {@code put} never tears an 8-aligned word that lies whole in its
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
  /**
   * Returns the bytes, for loads. The segment has the length {@link Backing#length()}, and offset 0
   * is 8-aligned.
   */
  MemorySegment segment();

  /**
   * Stores {@code length} bytes of {@code source} from {@code sourceOffset} at {@code offset}. The
   * bytes may be stored in any order. The two ranges must not overlap.
   *
   * @throws IndexOutOfBoundsException when one of the ranges is not within its segment; then
   *     nothing is stored
   * @throws FailedStoreException when the file system has no room for a page of the range, or
   *     failed; some of the bytes may be stored
   */
  void put(long offset, MemorySegment source, long sourceOffset, long length);

  /**
   * Stores one little-endian 8-byte word atomically, after all stores this thread made before.
   *
   * @throws IllegalArgumentException when {@code offset} is not 8-aligned
   * @throws FailedStoreException when the file system has no room for its page, or failed; then the
   *     word is unchanged
   */
  void putLongRelease(long offset, long value);

  /**
   * Stores one little-endian 8-byte word atomically if it has an expected value, after all loads
   * and stores that this thread made before.
   *
   * @return whether the word had that value; otherwise nothing is stored
   * @throws IllegalArgumentException when {@code offset} is not 8-aligned
   * @throws FailedStoreException when the file system has no room for its page, or failed; then the
   *     word is unchanged
   */
  boolean compareAndSetLong(long offset, long expected, long value);

  /** Starts write-back of the cache lines that hold {@code [offset, offset + length)}. */
  void flush(long offset, long length);

  /**
   * Waits until all bytes that this thread flushed survive the failure that {@link #survives()}
   * names.
   *
   * @throws java.io.UncheckedIOException when the device failed; from then on every drain of this
   *     memory fails, and each word that was flushed after the last successful drain may be lost or
   *     not
   */
  void drain();

  /**
   * Makes the pages of a range present and writable in this process, so that storing there soon
   * takes no page fault. A hint: changes no byte, fails silently, and takes as long as the kernel
   * needs. Any thread may call it, also while others store.
   */
  default void populate(long offset, long length) {}

  /**
   * Announces that a range will be loaded soon, from its beginning to its end, so that the kernel
   * reads its missing pages ahead. A hint, which takes as long as the kernel needs to find memory.
   * Call it for pieces of some hundred KiB, because the kernel may read only the beginning of a
   * longer range. Any thread may call it.
   */
  default void readAhead(long offset, long length) {}

  /**
   * Gives back the pages of a range that is no longer used. Its bytes are lost for every process
   * that maps it, and loads find zeros or the former bytes. A hint: fails silently. It makes the
   * closing of a large memory that has no name any more quick.
   */
  default void discard(long offset, long length) {}

  /** The strongest failure that drained bytes survive. */
  Survives survives();

  /**
   * Whether a store that other threads and processes already see may still be lost by the failure
   * that {@link #survives()} names, as with a persistence domain that begins at the memory
   * controller, and with synchronised files. If so, a word is first stored as pending, then
   * drained, then committed (design, "A put").
   */
  boolean visibleBeforeDurable();

  /** Whether a drain waits for a device. Then any thread may call {@link #drain()} for others. */
  default boolean drainWaitsForDevice() {
    return false;
  }

  /** Returns the part of a file that another process maps to see the same bytes. */
  Backing backing();

  /** Releases the mapping. This does not drain: drain first for durability. */
  @Override
  void close();
}
