package io.erda.logstore;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A walk over all whole objects below the high-water marks of a log, one segment in each step: live
 * objects, replaced objects, and objects that were never published. The time is proportional to the
 * number of bytes, whatever they contain. Stores nothing. One thread, the log's.
 */
public final class WholeObjects {
  private final LinkedRegions linked;
  private final ObjectVisitor visitor;
  private final ObjectScan scan = new ObjectScan();
  private final List<Region> regions;
  private int at;
  private long place = Region.HEADER_BYTES;
  private long looked;
  private long end;

  /**
   * @param visitor visits every whole object that does not lie inside another whole one, by region
   *     and rising place
   */
  public WholeObjects(LinkedRegions linked, ObjectVisitor visitor) {
    this.linked = linked;
    this.visitor = visitor;
    this.regions = linked.regions();
  }

  /** Returns the total number of bytes to scan. */
  public long bytes() {
    long bytes = 0;
    for (Region region : regions) {
      bytes += linked.highMark(region) - Region.HEADER_BYTES;
    }
    return bytes;
  }

  /** Returns the number of bytes scanned so far. */
  public long looked() {
    return looked;
  }

  /** Scans the rest of a segment. Returns whether there was one. */
  public boolean doWork() {
    while (at < regions.size() && place >= linked.highMark(regions.get(at))) {
      at++;
      place = Region.HEADER_BYTES;
    }
    if (at == regions.size()) {
      return false;
    }
    Region region = regions.get(at);
    LogGeometry geometry = linked.geometry();
    long to = Math.min(linked.highMark(region), geometry.segmentEnd(place));
    end = place;
    scan.scan(
        region.memory().segment(),
        region.head(),
        region.generation(),
        geometry.offset(region.index(), place),
        place,
        to,
        (found, bytes) -> {
          if (found >= end) {
            end = found + ObjectLayout.padded(bytes);
            visitor.object(region, geometry.offset(region.index(), found), found, bytes);
          }
        });
    looked += to - place;
    place = to;
    return true;
  }

  /** Whether a file with a region's header holds a whole object of that region. */
  static boolean anyIn(MemorySegment file, LogGeometry geometry) {
    if (file.byteSize() != geometry.regionBytes()) {
      return false;
    }
    int generation = RegionHeader.generation(file);
    int head = RegionHeader.head(file);
    int index = RegionHeader.index(file);
    int[] found = new int[1];
    ObjectScan scan = new ObjectScan();
    for (long from = Region.HEADER_BYTES; from < geometry.regionBytes() && found[0] == 0; ) {
      long to = geometry.segmentEnd(from);
      scan.scan(
          file,
          head,
          generation,
          geometry.offset(index, from),
          from,
          to,
          (place, bytes) -> found[0]++);
      from = to;
    }
    return found[0] > 0;
  }
}
