package io.erda.pmem;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts stores, flushes and drains. One counter may serve many memories and many threads, and be
 * read from any.
 *
 * <p>{@link CountedMemory} calls it. Other code that stores to the same memory, such as a client's
 * device, may call it too. A store is counted before it is made, because it is compared with the
 * bytes that it replaces. When stores race for the same bytes, only {@link
 * MemoryStatistics#bytesChanged()} is approximate.
 */
public final class StoreCounter {
  private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

  private final LongAdder stores = new LongAdder();
  private final LongAdder bytesStored = new LongAdder();
  private final LongAdder bytesChanged = new LongAdder();
  private final LongAdder flushes = new LongAdder();
  private final LongAdder linesFlushed = new LongAdder();
  private final LongAdder drains = new LongAdder();

  /** Counts what {@code put} with the same arguments is about to do to {@code target}. */
  public void store(
      MemorySegment target, long offset, MemorySegment source, long sourceOffset, long length) {
    if (length > 0) {
      count(length, changed(target, offset, source, sourceOffset, length));
    }
  }

  /** Counts a word that is about to replace {@code old}. */
  public void storeLong(long old, long value) {
    count(Long.BYTES, nonZeroBytes(old ^ value));
  }

  /** Counts a flush of a range that begins {@code offset} bytes after the start of a cache line. */
  public void flush(long offset, long length) {
    if (length > 0) {
      flushes.increment();
      linesFlushed.add(MemoryStatistics.lines(offset, length));
    }
  }

  /** Counts a drain. */
  public void drain() {
    drains.increment();
  }

  /**
   * Returns the present counts. Each count is exact; they belong to the same moment only while no
   * thread stores.
   */
  public MemoryStatistics statistics() {
    return new MemoryStatistics(
        stores.sum(),
        bytesStored.sum(),
        bytesChanged.sum(),
        flushes.sum(),
        linesFlushed.sum(),
        drains.sum());
  }

  private void count(long length, long changed) {
    stores.increment();
    bytesStored.add(length);
    bytesChanged.add(changed);
  }

  private static long changed(
      MemorySegment target, long offset, MemorySegment source, long sourceOffset, long length) {
    long changed = 0;
    long words = length & -8;
    for (long i = 0; i < words; i += 8) {
      changed += nonZeroBytes(target.get(WORD, offset + i) ^ source.get(WORD, sourceOffset + i));
    }
    for (long i = words; i < length; i++) {
      changed += target.get(BYTE, offset + i) == source.get(BYTE, sourceOffset + i) ? 0 : 1;
    }
    return changed;
  }

  /**
   * The addition carries into a byte's top bit when any of its lower bits is set; the byte's own
   * top bit is or-ed in.
   */
  private static int nonZeroBytes(long word) {
    long low = 0x7f7f7f7f7f7f7f7fL;
    return Long.bitCount(((word & low) + low | word) & ~low);
  }
}
