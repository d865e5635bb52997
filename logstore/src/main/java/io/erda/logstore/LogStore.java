package io.erda.logstore;

import io.erda.pmem.Leftovers;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.OutOfSpaceException;
import io.erda.pmem.PersistentMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * The log: it hands out extents of the heads' regions to writers, and keeps the marks between which
 * recovery scans (Erda paper, sections 3.2.1 and 4.1). See {@code FORMAT.md}. Only the server uses
 * it, and it is the only writer of the region table. One thread. Owns the memories it opens; the
 * directory must be locked by the caller and stay open.
 *
 * <p>Life: {@link #create} → use; or {@link #open} → {@link #scan}, decide, {@link #closeMarks} →
 * use; at the end {@link #close}.
 *
 * <p>Parts: {@link LinkedRegions} has the regions that exist, {@link FileSupply} has files for
 * further regions, and {@link CleaningSpace} is for the cleaner. Internally, {@link LogOpening}
 * opens the log, {@link Linking} links and retires regions, and {@link WaterMarks} maintains the
 * marks.
 *
 * <p>Names in the directory: {@code regions} (the region table), {@code region-SLOT-GENERATION},
 * and those of {@link SpareFiles}.
 *
 * <p><b>Open extents</b> hold at most 1/16 of the capacity ({@link #openBytesMax}), which bounds
 * the holes that dying clients leave. The bound applies only to bytes that a lease grants beyond
 * its minimum: a client that needs one object gets room for it while there is any, since otherwise
 * clients that keep their extents unused would stop the puts of others. The caller bounds the bytes
 * that one client holds, and ends unused extents soon while open extents exceed the bound.
 */
public final class LogStore implements AutoCloseable {
  private static final int OPEN_SHARE = 16;

  private final LogGeometry geometry;
  private final RegionTable table;
  private final Life life = new Life();
  private final LinkedRegions linked;
  private final WaterMarks marks;
  private final FileSupply files;
  private final Linking linking;
  private final CleaningSpace cleaning;
  private final List<String> notes;
  private final long openBytesMax;
  private long openBytes;
  private int openExtents;

  private LogStore(
      MemoryDirectory directory,
      Leftovers leftovers,
      UUID store,
      RegionTable table,
      LinkedRegions linked,
      CopySpace interrupted,
      List<String> notes) {
    this.geometry = linked.geometry();
    this.table = table;
    this.linked = linked;
    this.marks = new WaterMarks(table, linked);
    RetiredFiles retired = new RetiredFiles(directory, table, linked, leftovers);
    this.files = new FileSupply(directory, linked, life, leftovers, retired);
    this.linking = new Linking(directory, store, table, linked, marks, files, retired);
    this.cleaning = new CleaningSpace(life, table, linked, marks, linking, interrupted);
    this.notes = List.copyOf(notes);
    this.openBytesMax = geometry.capacityBytes() / OPEN_SHARE;
  }

  /**
   * Formats an empty log, durably. No region is linked yet. Files of an interrupted creation are
   * replaced. REQUIRES: the directory contains no store.
   *
   * @throws OutOfSpaceException when there is no room for the region table
   */
  public static LogStore create(MemoryDirectory directory, LogGeometry geometry, UUID store)
      throws IOException {
    for (String name : directory.names()) {
      if (name.equals(LogFiles.REGIONS) || LogFiles.isRegion(name)) {
        directory.delete(name);
      }
    }
    PersistentMemory memory = directory.create(LogFiles.REGIONS, RegionTable.bytes(geometry));
    RegionTable table = new RegionTable(memory);
    table.format(geometry, store);
    directory.sync();
    LinkedRegions none = new LinkedRegions(geometry);
    Leftovers leftovers = new Leftovers(directory);
    LogStore log =
        new LogStore(leftovers.directory(), leftovers, store, table, none, null, List.of());
    log.life.begin();
    return log;
  }

  /**
   * Opens a log: maps every linked region and checks its header; removes region files that no
   * record names. Reads nothing else, so it is quick however much is stored. Objects between the
   * water marks are not decided yet: see {@link #scan} and {@link #closeMarks}.
   *
   * @throws DamagedLogException when table or headers are not what this version writes for this
   *     store
   */
  public static LogStore open(MemoryDirectory directory, LogGeometry geometry, UUID store)
      throws IOException {
    return open(new Leftovers(directory), geometry, store);
  }

  /**
   * Opens a log as {@link #open(MemoryDirectory, LogGeometry, UUID)} does.
   *
   * @param leftovers removes files that are no longer needed, and has the directory
   */
  public static LogStore open(Leftovers leftovers, LogGeometry geometry, UUID store)
      throws IOException {
    MemoryDirectory directory = leftovers.directory();
    PersistentMemory memory;
    try {
      memory = directory.open(LogFiles.REGIONS);
    } catch (NoSuchFileException e) {
      throw new DamagedLogException("there is no region table: " + e.getMessage());
    }
    RegionTable table = new RegionTable(memory);
    LinkedRegions linked = new LinkedRegions(geometry);
    boolean opened = false;
    try {
      table.check(geometry, store);
      table.flushAll();
      LogOpening opening = new LogOpening(directory, leftovers, store, table, linked);
      opening.run();
      LogStore log =
          new LogStore(
              directory, leftovers, store, table, linked, opening.interrupted(), opening.notes());
      opened = true;
      return log;
    } finally {
      if (!opened) {
        linked.closeMemories();
        memory.close();
      }
    }
  }

  /**
   * Lengthens the region table of a log that is not open to as many records as a geometry has
   * slots. Nothing else of the table changes, so it is also valid for the former geometry.
   *
   * @throws OutOfSpaceException when there is no room for the records
   */
  public static void makeSlots(MemoryDirectory directory, LogGeometry geometry) throws IOException {
    long length;
    try (PersistentMemory memory = directory.open(LogFiles.REGIONS)) {
      length = memory.segment().byteSize();
    }
    if (length < RegionTable.bytes(geometry)) {
      directory.lengthen(LogFiles.REGIONS, RegionTable.bytes(geometry));
    }
  }

  /**
   * Returns the least number of regions to which a log that is not open may be limited: the linked
   * regions, one for each head without a region, and one for the copies of a cleaning.
   *
   * @throws DamagedLogException when the region table is too short
   */
  public static int regionsNeeded(MemoryDirectory directory, LogGeometry geometry)
      throws IOException {
    try (PersistentMemory memory = directory.open(LogFiles.REGIONS)) {
      if (memory.segment().byteSize() < RegionTable.bytes(geometry)) {
        throw new DamagedLogException(
            "region table has "
                + memory.segment().byteSize()
                + " bytes, must have "
                + RegionTable.bytes(geometry));
      }
      Set<Integer> heads = new HashSet<>();
      int taken = 0;
      for (long word : new RegionTable(memory).linkWords(geometry)) {
        if (word != 0) {
          taken++;
          heads.add(RegionTable.head(word));
        }
      }
      return taken + Math.max(0, geometry.heads() - heads.size()) + 1;
    }
  }

  /** Sentences about the findings and repairs of opening. */
  public List<String> notes() {
    return notes;
  }

  public LogGeometry geometry() {
    return geometry;
  }

  /** The regions that are linked. */
  public LinkedRegions linked() {
    return linked;
  }

  /** The files for further regions. */
  public FileSupply files() {
    return files;
  }

  /** The part of the log that the cleaner uses. */
  public CleaningSpace cleaning() {
    return cleaning;
  }

  /** See {@link LinkedRegions#regions}. */
  public List<Region> regions() {
    return linked.regions();
  }

  /** See {@link LinkedRegions#region}. */
  public Region region(int head, int offset) {
    return linked.region(head, offset);
  }

  public void onLink(LinkListener listener) {
    linking.onLink(listener);
  }

  /**
   * Hands out space of a head: at least {@code bytesMin} (padded) in one segment, {@code
   * bytesWanted} if it is at hand. Links another region when the head's newest one has too little
   * room. When this returns, a high-water mark at or above the end of the space is durable. The end
   * of a segment is skipped when it is too short.
   *
   * <p>After {@code DiskFull} the next call tries again, and the failing allocation of a whole
   * region is expensive, so do not call this in a loop. After {@code NotReady} call again when
   * {@link FileSupply#count} or {@link FileSupply#failures} has changed.
   *
   * @param bytesMin 1 to {@link LogGeometry#objectBytesMax()}
   * @param bytesWanted granted while open extents hold less than {@link #openBytesMax()}; a number
   *     less than {@code bytesMin} counts as {@code bytesMin}
   * @throws IllegalStateException between {@link #open} and {@link #closeMarks}
   * @throws UncheckedIOException when the directory fails while a new file gets its name; the log
   *     is unchanged
   */
  public LeaseResult lease(int head, int bytesMin, int bytesWanted) {
    return lease(head, bytesMin, bytesWanted, true);
  }

  /**
   * As {@link #lease}, without making a file. So this may be called in a loop after {@code
   * DiskFull}, until there is a spare file.
   */
  public LeaseResult leaseAtHand(int head, int bytesMin, int bytesWanted) {
    return lease(head, bytesMin, bytesWanted, false);
  }

  private LeaseResult lease(int head, int bytesMin, int bytesWanted, boolean mayMake) {
    life.requireInUse();
    if (head < 0 || head >= geometry.heads()) {
      throw new IllegalArgumentException("head " + head + " of " + geometry.heads());
    }
    if (bytesMin < 1 || bytesMin > geometry.objectBytesMax()) {
      throw new IllegalArgumentException(
          "bytes asked: " + bytesMin + ", must be 1 to " + geometry.objectBytesMax());
    }
    int least = ObjectLayout.padded(bytesMin);
    RegionState state = linked.newest(head);
    if (state == null || placeFor(state, least) < 0) {
      LeaseResult refusal =
          linked.mayGrow(head)
              ? linking.linkForLeases(head, mayMake)
              : new LeaseResult.LogFull(geometry.capacityBytes());
      if (refusal != null) {
        return refusal;
      }
      state = linked.newest(head);
    }
    linking.announce(state);
    return new LeaseResult.Leased(grant(state, least, bytesWanted));
  }

  /**
   * Returns the first place at or after the point of appending with {@code bytes} in one segment,
   * or −1.
   */
  private long placeFor(RegionState state, int bytes) {
    long place = state.append;
    if (place < geometry.regionBytes()) {
      place = geometry.placeBehind(place, bytes);
    }
    return place < geometry.regionBytes() ? place : -1;
  }

  private Extent grant(RegionState state, int least, int bytesWanted) {
    long place = placeFor(state, least);
    long atHand =
        Math.min(geometry.room(place), openBytesMax - openBytes) & -ObjectLayout.ALIGNMENT;
    int length =
        (int) Math.max(least, Math.min(atHand, ((long) bytesWanted + 7) & -ObjectLayout.ALIGNMENT));
    assert length >= least && length <= geometry.room(place) : length + " bytes at " + place;
    assert length == least || openBytes + length <= openBytesMax
        : length + " bytes beside " + openBytes + " open ones";
    Extent extent = new Extent(state.region, place, length);
    marks.cover(state, extent.end());
    files.leased();
    state.append = extent.end();
    state.opened(extent);
    openBytes += length;
    openExtents++;
    return extent;
  }

  /**
   * Notes that each object in {@code extent} before {@code place} is committed and durable, or
   * never will be. This is cheap; the low-water mark is stored later.
   *
   * @param place a place in the region, not beyond the end of the extent; a place that was settled
   *     before changes nothing
   * @throws IllegalStateException when the extent was ended; no object may be committed in it any
   *     more, because recovery may not scan it
   */
  public void settle(Extent extent, long place) {
    if (!extent.open()) {
      throw new IllegalStateException("settling " + place + " in an " + extent);
    }
    if (place > extent.end()) {
      throw new IllegalArgumentException("settling " + place + " beyond the end of an " + extent);
    }
    extent.settle(place);
    if (extent.previous == null) {
      marks.lowMoved(linked.state(extent.region()));
    }
  }

  /**
   * Ends an extent. Its unpublished parts are a hole from then on. Has no effect on an extent that
   * was ended.
   */
  public void end(Extent extent) {
    if (!extent.open()) {
      return;
    }
    extent.close();
    openBytes -= extent.length();
    openExtents--;
    assert openBytes >= 0 && (openBytes == 0) == (openExtents == 0)
        : openExtents + " open extents of " + openBytes + " bytes";
    RegionState state = linked.state(extent.region());
    state.ended(extent);
    marks.lowMoved(state);
  }

  /**
   * Stores every low-water mark that moved, flushed but not drained. An idle server calls it, so
   * that the next recovery has less to scan.
   */
  public void storeLowMarks() {
    life.requireInUse();
    marks.storeLowMarks();
  }

  /**
   * Scans [low, high) of every region, by head and index, at rising places. Returns the number of
   * bytes scanned. Every 8-byte place is checked, also inside objects that were found; an object
   * that reaches beyond its segment or the high-water mark never counts. A copy space of the
   * cleaner is skipped, because no pending word names a place there. The time is proportional to
   * the bytes, whatever clients have written there. The additional memory is 1.5 times the longest
   * range in one segment.
   */
  public long scan(ObjectVisitor visitor) {
    return new RecoveryScan(linked, visitor).scan();
  }

  /**
   * Closes the marks of every region at the high-water mark, durably. The space below is never
   * handed out again in this generation. REQUIRES: the caller's decisions about the objects that
   * {@link #scan} found are durable. May be interrupted and repeated; does nothing in a log that is
   * in use.
   */
  public void closeMarks() {
    if (life.recovering()) {
      marks.closeAll();
      life.begin();
    }
  }

  /** Returns the number of bytes in open extents above which leases get only their minimum. */
  public long openBytesMax() {
    return openBytesMax;
  }

  /** Bytes in open extents. */
  public long openBytes() {
    return openBytes;
  }

  /** Returns the bytes that were handed out, and the capacity, of all regions. */
  public Usage usage() {
    long used = 0;
    for (Region region : linked.regions()) {
      used += linked.appendPlace(region);
    }
    return new Usage(
        linked.regions().size() * geometry.regionBytes(),
        used,
        openBytes,
        geometry.capacityBytes(),
        openExtents);
  }

  /**
   * The bytes of the log by their use.
   *
   * @param linkedBytes bytes of linked regions
   * @param usedBytes bytes below the points of appending, including holes and region headers
   * @param openBytes bytes in open extents, including their settled parts
   * @param capacityBytes the most bytes that may be linked
   */
  public record Usage(
      long linkedBytes, long usedBytes, long openBytes, long capacityBytes, int openExtents) {}

  /**
   * Stores the present marks, durably, and releases the memories. Leased space stays below the
   * high-water mark; the rest is given back, so that an orderly restart costs no space. Between
   * {@link #open} and {@link #closeMarks} this stores nothing. Closing again has no effect.
   */
  @Override
  public void close() {
    close(true);
  }

  /**
   * Closes the log.
   *
   * @param inOrder false to store nothing, so that the next opening recovers as after a kill
   */
  public void close(boolean inOrder) {
    if (life.closed()) {
      return;
    }
    try {
      if (life.inUse() && inOrder) {
        marks.storeLowMarks();
        marks.storeHighMarksAtAppend();
        table.drain();
        files.removeAll();
      }
    } finally {
      life.end();
      linked.closeMemories();
      files.close();
      table.memory().close();
    }
  }

  /** The memories of the region table and of all linked regions. */
  public List<PersistentMemory> memories() {
    List<PersistentMemory> memories = new ArrayList<>();
    memories.add(table.memory());
    linked.regions().forEach(region -> memories.add(region.memory()));
    return memories;
  }
}
