package io.erda.pmem;

/**
 * The stores, flushes and drains since counting began.
 *
 * @param stores puts and word stores that stored at least one byte
 * @param bytesStored bytes that were written, changed or not
 * @param bytesChanged bytes written that differ from the former bytes: media that compare before
 *     they write program only these (differential writes; the measure of table 1 of the Erda paper
 *     is {@code bytesStored} per operation)
 * @param flushes flushes of at least one byte
 * @param linesFlushed cache lines of {@value #LINE_BYTES} bytes that the flushes touched, each as
 *     often as it was flushed
 * @param drains drains
 */
public record MemoryStatistics(
    long stores,
    long bytesStored,
    long bytesChanged,
    long flushes,
    long linesFlushed,
    long drains) {
  /** The unit of {@link #linesFlushed}. */
  public static final int LINE_BYTES = 64;

  /** The counts before the first store: all 0. */
  public static final MemoryStatistics NONE = new MemoryStatistics(0, 0, 0, 0, 0, 0);

  /** The counts since {@code earlier}. */
  public MemoryStatistics minus(MemoryStatistics earlier) {
    return new MemoryStatistics(
        stores - earlier.stores,
        bytesStored - earlier.bytesStored,
        bytesChanged - earlier.bytesChanged,
        flushes - earlier.flushes,
        linesFlushed - earlier.linesFlushed,
        drains - earlier.drains);
  }

  /** The sum of these counts and others. */
  public MemoryStatistics plus(MemoryStatistics other) {
    return new MemoryStatistics(
        stores + other.stores,
        bytesStored + other.bytesStored,
        bytesChanged + other.bytesChanged,
        flushes + other.flushes,
        linesFlushed + other.linesFlushed,
        drains + other.drains);
  }

  /**
   * Returns the number of cache lines that a range touches. The range begins {@code offset} bytes
   * after the start of a line.
   */
  static long lines(long offset, long length) {
    return length == 0 ? 0 : (offset + length - 1) / LINE_BYTES - offset / LINE_BYTES + 1;
  }
}
