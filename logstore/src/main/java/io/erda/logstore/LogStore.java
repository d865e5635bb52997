package io.erda.logstore;

import io.erda.pmem.MemoryDirectory;
import java.io.IOException;
import java.util.List;
import java.util.UUID;

/**
 * The log: heads, the regions linked to them, extents handed out to writers, and the water marks that recovery looks between.
 * See {@code FORMAT.md}. The server's side and the only writer of the region table. One thread. Owns the memories it opens.
 *
 * <p>Names in the directory: {@code regions} (the region table) and {@code region-SLOT-GENERATION}.
 */
public final class LogStore implements AutoCloseable {
  /** Formats an empty log, durably. No region is linked yet. Leftovers of an interrupted creation are replaced. */
  public static LogStore create(MemoryDirectory directory, LogGeometry geometry, UUID store) throws IOException {
    throw new UnsupportedOperationException("to be written");
  }

  /**
   * Opens a log: maps every linked region and checks its header; removes region files that no record names. Between the water marks
   * nothing is decided yet: see {@link #scan} and {@link #closeMarks}.
   *
   * @throws DamagedLogException when table or headers are not what this version writes for this store
   */
  public static LogStore open(MemoryDirectory directory, LogGeometry geometry, UUID store) throws IOException {
    throw new UnsupportedOperationException("to be written");
  }

  public LogGeometry geometry() {
    throw new UnsupportedOperationException("to be written");
  }

  /** All linked regions, by head and index. */
  public List<Region> regions() {
    throw new UnsupportedOperationException("to be written");
  }

  /** The region that holds an offset of a head, or null when none is linked there. */
  public Region region(int head, int offset) {
    throw new UnsupportedOperationException("to be written");
  }

  /** Told of every region that becomes linked, before anyone gets space in it. */
  public interface LinkListener {
    void linked(Region region);
  }

  public void onLink(LinkListener listener) {
    throw new UnsupportedOperationException("to be written");
  }

  /**
   * Hands out space of a head: at least {@code bytesMin} (padded) in one segment, {@code bytesWanted} if it is at hand. Links another
   * region when it must. The high-water mark above it is durable when this returns.
   */
  public LeaseResult lease(int head, int bytesMin, int bytesWanted) {
    throw new UnsupportedOperationException("to be written");
  }

  /** Says that everything in {@code extent} before {@code place} is committed and durable. Cheap; the low-water mark follows lazily. */
  public void settle(Extent extent, long place) {
    throw new UnsupportedOperationException("to be written");
  }

  /** Ends an extent: what of it was not published is a hole for good. */
  public void end(Extent extent) {
    throw new UnsupportedOperationException("to be written");
  }

  /** Visits what lies between the marks: every 8-byte place with a valid positional checksum. */
  public interface ScanVisitor {
    /**
     * A whole object at a place.
     *
     * @param offset 8-byte units along the head's regions
     */
    void object(Region region, int offset, long place, int bytes);
  }

  /** Walks [low, high) of every region. Returns bytes looked at. */
  public long scan(ScanVisitor visitor) {
    throw new UnsupportedOperationException("to be written");
  }

  /** Closes the marks of every region at high, durably: what is below is never handed out again in this generation. */
  public void closeMarks() {
    throw new UnsupportedOperationException("to be written");
  }

  /** Bytes handed out and capacity, over all regions. */
  public Usage usage() {
    throw new UnsupportedOperationException("to be written");
  }

  /**
   * How full the log is.
   *
   * @param linkedBytes of linked regions
   * @param usedBytes below the points of appending, holes too
   * @param openBytes in open extents
   * @param capacityBytes that may be linked at most
   */
  public record Usage(long linkedBytes, long usedBytes, long openBytes, long capacityBytes, int openExtents) {}

  @Override
  public void close() {
    throw new UnsupportedOperationException("to be written");
  }
}
