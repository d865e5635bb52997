package io.erda.rdma.rings;

import io.erda.rdma.DeviceStatistics;
import java.lang.foreign.MemorySegment;

/**
 * Counts the READs and WRITEs of one end. The counts are in the shared header, so that the other
 * end sees them. One thread stores them. A peer's counts are used only for statistics.
 */
final class Counters {
  static final long READS = 0;
  static final long BYTES_READ = 8;
  static final long WRITES = 16;
  static final long BYTES_WRITTEN = 24;

  /**
   * The offset of the number of bytes that differ; the number is -1 when stores are not compared.
   */
  static final long BYTES_DIFFERING = 32;

  private final long base;
  private long reads;
  private long readsAtCheck;
  private long bytesRead;
  private long writes;
  private long bytesWritten;
  private long bytesDiffering;

  Counters(MemorySegment queue, long base) {
    this.base = queue.address() + base;
  }

  /**
   * Counts a READ. The other end sees the count after {@link #show}. This is part of each READ of a
   * get, which the compiler compiles as one unit only while it is short.
   */
  void read(int length) {
    bytesRead += length;
    reads++;
  }

  /** Counts READs since the last {@link #check}. */
  long readsSinceCheck() {
    return reads - readsAtCheck;
  }

  /**
   * Notes that the owner does its periodic checks; a certain number of READs or polls leads to
   * them.
   */
  void check() {
    readsAtCheck = reads;
    show();
  }

  /** Stores the counts of READs in the header. */
  void show() {
    Words.plain(base + READS, reads);
    Words.plain(base + BYTES_READ, bytesRead);
  }

  void write(int length) {
    Words.plain(base + WRITES, ++writes);
    Words.plain(base + BYTES_WRITTEN, bytesWritten += length);
  }

  void differing(long bytes) {
    Words.plain(base + BYTES_DIFFERING, bytesDiffering += bytes);
  }

  /** Loads the counts of either end from the header. */
  static DeviceStatistics load(MemorySegment queue, long base) {
    return new DeviceStatistics(
        word(queue, base + READS),
        word(queue, base + BYTES_READ),
        word(queue, base + WRITES),
        word(queue, base + BYTES_WRITTEN),
        word(queue, base + BYTES_DIFFERING),
        0,
        0);
  }

  private static long word(MemorySegment queue, long at) {
    return (long) QueueLayout.WORD.getOpaque(queue, at);
  }
}
