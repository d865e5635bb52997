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
 * The log: hands out extents of the heads' regions to writers, and keeps the marks that recovery
 * looks between (Erda paper, sections 3.2.1 and 4.1). See {@code FORMAT.md}. The server's side and
 * the only writer of the region table. One thread. Owns the memories it opens; the directory must
 * be locked by the caller and stay open.
 *
 * <p>Life: {@link #create} → use; or {@link #open} → {@link #scan}, decide, {@link #closeMarks} →
 * use; at the end {@link #close}.
 *
 * <p>Parts: {@link LinkedRegions} knows which regions there are, {@link FileSupply} keeps files for
 * more of them, {@link CleaningSpace} is the cleaner's. Inside, {@link LogOpening} opens, {@link
 * Linking} links and retires regions, and {@link WaterMarks} keeps the marks.
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
    this.files = new FileSupply(directory, linked, life, leftovers);
    this.linking = new Linking(directory, store, table, linked, marks, files);
    this.cleaning = new CleaningSpace(life, table, linked, marks, linking, interrupted);
    this.notes = List.copyOf(notes);
    this.openBytesMax = geometry.capacityBytes() / OPEN_SHARE;
  }

  /**
   * Formats an empty log, durably. No region is linked yet. Leftovers of an interrupted creation
   * are replaced: the caller knows that no store is there.
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
   * record names. Looks at nothing else, so it is quick however much is stored. Between the water
   * marks nothing is decided yet: see {@link #scan} and {@link #closeMarks}.
   *
   * @throws DamagedLogException when table or headers are not what this version writes for this
   *     store
   */
  public static LogStore open(MemoryDirectory directory, LogGeometry geometry, UUID store)
      throws IOException {
    return open(new Leftovers(directory), geometry, store);
  }

  /**
   * As above.
   *
   * @param leftovers removes files that are needed no more, and has the directory
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
   * slots. Nothing else of it changes, so it is the table of the former geometry too.
   *
   * @throws OutOfSpaceException when there is no room for them
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
   * The fewest regions to which a log that is not open may be limited: those that it has, one for
   * each head that has none, and one that a cleaning copies to.
   *
   * @throws DamagedLogException when its region table is too short
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
   * <p>After {@code DiskFull} the next call tries again, which costs an allocation of a whole
   * region that fails: don't call in a loop. After {@code NotReady} call again when {@link
   * FileSupply#count} or {@link FileSupply#failures} has changed.
   *
   * @param bytesMin 1 to {@link LogGeometry#objectBytesMax()}
   * @param bytesWanted granted while open extents hold less than {@link #openBytesMax()}; less than
   *     {@code bytesMin} counts as that
   * @throws IllegalStateException between {@link #open} and {@link #closeMarks}
   * @throws UncheckedIOException when the directory fails while a file that was made gets its name;
   *     the log stays as it was
   */
  public LeaseResult lease(int head, int bytesMin, int bytesWanted) {
    return lease(head, bytesMin, bytesWanted, true);
  }

  /**
   * The same without making a file. So it may be called in a loop after {@code DiskFull}, until
   * there is a spare file.
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
   * The first place at or behind the point of appending with {@code bytes} in one segment, or −1.
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
   * Says that everything in {@code extent} before {@code place} is committed and durable, or will
   * never be written. Cheap; the low-water mark follows lazily.
   *
   * @param place in the region, not beyond the extent's end; one that was settled before changes
   *     nothing
   * @throws IllegalStateException when the extent was ended: nothing may be committed in it,
   *     because recovery may not look there any more
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

  /** Ends an extent: its unpublished parts are a hole for good. Has no effect on an ended one. */
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
   * Stores every low-water mark that moved, flushed, not drained. For when the server is idle: the
   * next recovery then has less to look at.
   */
  public void storeLowMarks() {
    life.requireInUse();
    marks.storeLowMarks();
  }

  /**
   * Walks [low, high) of every region, by head and index, rising. Returns bytes looked at. Every
   * 8-byte place is looked at, also inside objects that were found, and an object never counts that
   * reaches beyond its segment or the high-water mark. A copy space of the cleaner's is skipped: no
   * pending word names a place there. The time is bounded by the bytes, whatever clients wrote
   * there; memory beside is 1.5 times the longest range in one segment.
   */
  public long scan(ObjectVisitor visitor) {
    return new RecoveryScan(linked, visitor).scan();
  }

  /**
   * Closes the marks of every region at high, durably: what is below is never handed out again in
   * this generation. REQUIRES: the caller's decisions about the objects that {@link #scan} found
   * are durable. May be interrupted and repeated; does nothing in a log that is in use.
   */
  public void closeMarks() {
    if (life.recovering()) {
      marks.closeAll();
      life.begin();
    }
  }

  /** The bytes in open extents from which on leases get no more than their minimum. */
  public long openBytesMax() {
    return openBytesMax;
  }

  /** Bytes in open extents. */
  public long openBytes() {
    return openBytes;
  }

  /** Bytes handed out and capacity, over all regions. */
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
   * How full the log is.
   *
   * @param linkedBytes of linked regions
   * @param usedBytes below the points of appending, holes and region headers too
   * @param openBytes in open extents, their settled parts too
   * @param capacityBytes that may be linked at most
   */
  public record Usage(
      long linkedBytes, long usedBytes, long openBytes, long capacityBytes, int openExtents) {}

  /**
   * Stores the marks as they are, durably, and releases the memories. Leased space stays below the
   * high-water mark; the rest is given back, so a restart in order costs no space. Between {@link
   * #open} and {@link #closeMarks} it stores nothing. Closing again has no effect.
   */
  @Override
  public void close() {
    close(true);
  }

  /**
   * Closes.
   *
   * @param inOrder false: stores nothing, so that the next opening recovers as after a kill
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
