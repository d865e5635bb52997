package io.erda.logstore;

import io.erda.pmem.Creation;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.OutOfSpaceException;
import io.erda.pmem.PersistentMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * The log: heads, the regions linked to them, extents handed out to writers, and the water marks
 * that recovery looks between (Erda paper, sections 3.2.1 and 4.1). See {@code FORMAT.md}. The
 * server's side and the only writer of the region table. One thread. Owns the memories it opens;
 * the directory must be locked by the caller and stay open.
 *
 * <p>Life: {@link #create} → use; or {@link #open} → {@link #scan}, decide, {@link #closeMarks} →
 * use; at the end {@link #close}.
 *
 * <p>Names in the directory: {@code regions} (the region table), {@code region-SLOT-GENERATION},
 * and those of {@link SpareFiles}.
 *
 * <p><b>Order of linking</b>, each step durable before the next: next generation; a spare file; its
 * header; its name; marks; link word; then the listeners; then leases. What a crash leaves in
 * between is a file that no record names, and a number that is not used. Making the file takes long
 * and may be done ahead ({@link #makeAhead}).
 *
 * <p><b>A file is used again</b> only when its caller says that nobody can read or write it any
 * more ({@link #reuse}). What lies in it is of an older generation, so none of it is valid ({@link
 * ObjectChecksum#positionMix}).
 *
 * <p><b>Marks.</b> The high-water mark is durable before a place above it is handed out. The
 * low-water mark follows what is committed and durable, is stored when it has moved on by 256 KiB
 * or so, and is not drained: one that is too low, because it was not stored yet or got lost, makes
 * recovery look at more places and nothing else. Recovery acts on an object only where its key's
 * word names this very place and is pending; the word says the same whichever mark led there. What
 * must never be is a mark above the truth; it is computed from what is durable, so it may become
 * durable at any time.
 *
 * <p><b>Open extents</b> hold at most 1/16 of the capacity ({@link #openBytesMax}): that bounds the
 * holes that dying clients leave. It limits what is granted beyond the least that was asked, never
 * whether something is granted: a client that needs one object gets the room for it while there is
 * any, since otherwise clients that sit on their extents would stop the others' puts. The caller
 * bounds what one client holds, and ends soon what nobody uses while more than that is open.
 */
public final class LogStore implements AutoCloseable {
  /** How far ahead the high-water mark is stored. */
  private static final int HIGH_STEP_BYTES_MAX = 1 << 20;

  /** How far the low-water mark may lag behind before it is stored. */
  private static final int LOW_STEP_BYTES_MAX = 256 << 10;

  private static final int OPEN_SHARE = 16;

  /** A head with less left is about to need another region. */
  private static final long AHEAD_BYTES_MAX = 128L << 20;

  /** A disk with less room than for so many files, or so many bytes, may be full at any time. */
  private static final int SCARCE_FILES = 4;

  private static final long SCARCE_BYTES = 1L << 30;

  private static final Pattern REGION_FILE = Pattern.compile("region-[0-9]+-[0-9]+");

  private final MemoryDirectory directory;
  private final LogGeometry geometry;
  private final UUID store;
  private final RegionTable table;
  private final SpareFiles spares;
  private final int highStepBytes;
  private final int lowStepBytes;
  private final long openBytesMax;
  private final List<LinkListener> listeners = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();
  private final RegionState[] bySlot;

  /** By head and index; as long as the head ever needed. */
  private final RegionState[][] byHead;

  /** Where each head appends: its region with the highest generation. */
  private final RegionState[] newest;

  private List<Region> regions = List.of();

  /** Of the next region: no file ever had it. */
  private int generation;

  /** Regions that leases leave to the cleaner. */
  private int spareRegions;

  /** Of a cleaning that the last run did not finish; null when there is none. */
  private Stretch interrupted;

  /** Whether something was leased since somebody asked whether the log is idle. */
  private boolean active;

  /** Whether spares are not wanted: nothing was leased for long. */
  private boolean idle = true;

  /** Whether the disk is about to be full. */
  private boolean scarce;

  private boolean marksClosed;
  private boolean closed;
  private long openBytes;
  private int openExtents;

  private LogStore(MemoryDirectory directory, LogGeometry geometry, UUID store, RegionTable table) {
    this.directory = directory;
    this.geometry = geometry;
    this.store = store;
    this.table = table;
    this.spares = new SpareFiles(directory, geometry.regionBytes());
    this.highStepBytes = Math.min(HIGH_STEP_BYTES_MAX, geometry.segmentBytes());
    this.lowStepBytes = Math.min(LOW_STEP_BYTES_MAX, highStepBytes);
    this.openBytesMax = geometry.capacityBytes() / OPEN_SHARE;
    this.bySlot = new RegionState[geometry.regionsMax()];
    this.byHead = new RegionState[geometry.heads()][0];
    this.newest = new RegionState[geometry.heads()];
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
      if (name.equals(RegionTable.NAME) || REGION_FILE.matcher(name).matches()) {
        directory.delete(name);
      }
    }
    PersistentMemory memory = directory.create(RegionTable.NAME, RegionTable.bytes(geometry));
    RegionTable table = new RegionTable(memory);
    table.format(geometry, store);
    directory.sync();
    LogStore log = new LogStore(directory, geometry, store, table);
    log.generation = table.nextGeneration();
    log.marksClosed = true;
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
    PersistentMemory memory;
    try {
      memory = directory.open(RegionTable.NAME);
    } catch (NoSuchFileException e) {
      throw new DamagedLogException("there is no region table: " + e.getMessage());
    }
    RegionTable table = new RegionTable(memory);
    LogStore log = new LogStore(directory, geometry, store, table);
    boolean opened = false;
    try {
      table.check(geometry, store);
      table.flushAll();
      log.openRegions();
      log.removeUnnamed();
      opened = true;
      return log;
    } finally {
      if (!opened) {
        log.closeMemories();
      }
    }
  }

  private void openRegions() throws IOException {
    generation = table.nextGeneration();
    long[] linkWords = table.linkWords();
    finishRetirements(linkWords);
    for (int slot = 0; slot < linkWords.length; slot++) {
      if (linkWords[slot] != 0) {
        openRegion(slot, linkWords[slot]);
      }
    }
    for (RegionState state : bySlot) {
      if (state != null && newest[state.region.head()] != state) {
        state.append = geometry.regionBytes();
      }
    }
    listRegions();
    findInterrupted();
  }

  /**
   * What was retired is reachable for nobody; what is left is to remove its file and its record.
   */
  private void finishRetirements(long[] linkWords) throws IOException {
    int finished = 0;
    for (int slot = 0; slot < linkWords.length; slot++) {
      if (RegionTable.state(linkWords[slot]) == RegionTable.STATE_RETIRED) {
        int itsGeneration = RegionTable.generation(linkWords[slot]);
        requireGeneration("region table, slot " + slot + ": ", itsGeneration);
        removeFile(slot, itsGeneration);
        linkWords[slot] = 0;
        finished++;
      }
    }
    if (finished > 0) {
      notes.add("removed " + finished + " region file(s) whose cleaning was done");
    }
  }

  /** The name durably first: an object's file that no record names would count as damage. */
  private void removeFile(int slot, int itsGeneration) throws IOException {
    directory.delete(RegionHeader.fileName(slot, itsGeneration));
    directory.sync();
    table.storeLinkWord(slot, 0);
    table.drain();
  }

  private void findInterrupted() {
    for (Region target : regions) {
      int victim = table.cleaning(target.slot());
      for (Region region : victim == 0 ? List.<Region>of() : regions) {
        RegionState state = bySlot[target.slot()];
        if (region.generation() == victim
            && region.head() == target.head()
            && state.stretchBegin < state.stretchEnd) {
          interrupted = new Stretch(state, region, geometry, state.stretchBegin, state.stretchEnd);
        }
      }
    }
  }

  private void openRegion(int slot, long linkWord) throws IOException {
    requireRecord(slot, linkWord);
    int head = RegionTable.head(linkWord);
    int index = RegionTable.index(linkWord);
    int itsGeneration = RegionTable.generation(linkWord);
    PersistentMemory memory = openMemory(slot, itsGeneration);
    boolean added = false;
    try {
      RegionHeader.check(memory.segment(), geometry, store, slot, head, index, itsGeneration);
      Region region =
          new Region(
              slot, head, index, itsGeneration, memory, new ObjectChecksum(memory.segment()));
      long high = table.high(slot);
      RegionState state = new RegionState(region, table.low(slot), high, high);
      state.announced = true;
      state.stretchBegin = table.stretchBegin(slot);
      state.stretchEnd = table.stretchEnd(slot);
      add(state);
      added = true;
    } finally {
      if (!added) {
        memory.close();
      }
    }
  }

  private PersistentMemory openMemory(int slot, int itsGeneration) throws IOException {
    String name = RegionHeader.fileName(slot, itsGeneration);
    try {
      return directory.open(name);
    } catch (NoSuchFileException e) {
      throw new DamagedLogException("slot " + slot + " names " + name + ", which is not there");
    }
  }

  private void requireRecord(int slot, long linkWord) {
    int head = RegionTable.head(linkWord);
    int index = RegionTable.index(linkWord);
    int itsGeneration = RegionTable.generation(linkWord);
    String what = "region table, slot " + slot + ": ";
    if (RegionTable.state(linkWord) != RegionTable.STATE_LINKED) {
      throw new DamagedLogException(
          what + "link word 0x" + Long.toHexString(linkWord) + " has no known state");
    }
    if (head >= geometry.heads() || index >= geometry.regionsPerHeadMax()) {
      throw new DamagedLogException(
          what
              + "head "
              + head
              + ", index "
              + index
              + " of "
              + geometry.heads()
              + " heads, "
              + geometry.regionsPerHeadMax()
              + " regions each");
    }
    if (at(byHead[head], index) != null) {
      throw new DamagedLogException(
          what
              + "head "
              + head
              + ", index "
              + index
              + " is linked to slot "
              + byHead[head][index].region.slot()
              + " too");
    }
    requireGeneration(what, itsGeneration);
    long high = table.high(slot);
    long low = table.low(slot);
    boolean ordered = Region.HEADER_BYTES <= low && low <= high && high <= geometry.regionBytes();
    if (!ordered || ((low | high) & 7) != 0) {
      throw new DamagedLogException(
          what
              + "marks low "
              + low
              + ", high "
              + high
              + " in a region of "
              + geometry.regionBytes()
              + " bytes");
    }
    long begin = table.stretchBegin(slot);
    long end = table.stretchEnd(slot);
    if (begin < 0 || begin > high || end < 0 || end > high || ((begin | end) & 7) != 0) {
      throw new DamagedLogException(
          what + "stretch " + begin + " to " + end + ", high mark " + high);
    }
  }

  private void requireGeneration(String what, int itsGeneration) {
    if (itsGeneration <= 0 || itsGeneration >= generation) {
      throw new DamagedLogException(
          what + "generation " + itsGeneration + ", next is " + generation);
    }
  }

  private void removeUnnamed() throws IOException {
    Set<String> named = new HashSet<>();
    for (Region region : regions) {
      named.add(RegionHeader.fileName(region.slot(), region.generation()));
    }
    int removed = 0;
    for (String name : directory.names()) {
      if (SpareFiles.FILE.matcher(name).matches()) {
        directory.delete(name);
      } else if (REGION_FILE.matcher(name).matches() && !named.contains(name)) {
        requireNeverHandedOut(name);
        directory.delete(name);
        removed++;
      }
    }
    if (removed > 0) {
      notes.add(
          "removed "
              + removed
              + " region file(s) that no record names: the linking was interrupted");
    }
  }

  /**
   * An interrupted linking handed nothing out, and its first object's place is empty even in a file
   * that is used again. A file with objects was linked once: then it is the record that got lost,
   * and what is left must not be removed. The first place may be empty in such a file too, when the
   * client that had it died, so every place is looked at.
   */
  private void requireNeverHandedOut(String name) throws IOException {
    try (PersistentMemory memory = directory.open(name)) {
      MemorySegment bytes = memory.segment();
      if ((bytes.byteSize() >= Region.HEADER_BYTES + 8
              && bytes.get(HeaderFields.LONG, Region.HEADER_BYTES) != 0)
          || WholeObjects.anyIn(bytes, geometry)) {
        throw new DamagedLogException(
            name + " holds objects, and no record of the region table names it");
      }
    } catch (FileSystemException e) {
      // Too short to be opened: a kill while it was made.
    }
  }

  /** What opening found and repaired, a sentence each. */
  public List<String> notes() {
    return List.copyOf(notes);
  }

  public LogGeometry geometry() {
    return geometry;
  }

  /** All linked regions, by head and index. */
  public List<Region> regions() {
    return regions;
  }

  /**
   * The region that holds an offset of a head, or null when none is linked there, whatever the
   * arguments.
   */
  public Region region(int head, int offset) {
    if (head < 0 || head >= byHead.length || offset < 0) {
      return null;
    }
    RegionState state = at(byHead[head], geometry.regionIndex(offset));
    return state == null ? null : state.region;
  }

  private static RegionState at(RegionState[] ofHead, int index) {
    return index < ofHead.length ? ofHead[index] : null;
  }

  /** Told of every region that becomes linked, before anyone gets space in it. */
  public interface LinkListener {
    /**
     * When it throws, the region stays linked, {@link LogStore#lease} fails, and the next lease
     * tells all listeners again.
     */
    void linked(Region region);

    /**
     * A region is no longer the head's: makes the map newer, then ends every way to reach it. When
     * it returns nobody accepts anything that is read there, and what is written there is nobody's.
     * From then on the region's memory is the listener's, who calls {@link #reuse} or {@link
     * #remove} once, when {@link #retire} has returned.
     */
    default void retired(Region region) {}
  }

  public void onLink(LinkListener listener) {
    listeners.add(listener);
  }

  /**
   * Hands out space of a head: at least {@code bytesMin} (padded) in one segment, {@code
   * bytesWanted} if it is at hand. Links another region when it must. The high-water mark above it
   * is durable when this returns. What is too little of a segment's end is skipped.
   *
   * <p>After {@code DiskFull} the next call tries again, which costs an allocation of a whole
   * region that fails: don't call in a loop. After {@code NotReady} call again when {@link
   * #spareFiles} or {@link #spareFailures} has changed.
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
   * The same, of what is at hand: makes no file. So it may be called in a loop after {@code
   * DiskFull}, until there is a file that somebody else made or left.
   */
  public LeaseResult leaseAtHand(int head, int bytesMin, int bytesWanted) {
    return lease(head, bytesMin, bytesWanted, false);
  }

  private LeaseResult lease(int head, int bytesMin, int bytesWanted, boolean mayMake) {
    requireReady();
    if (head < 0 || head >= newest.length) {
      throw new IllegalArgumentException("head " + head + " of " + newest.length);
    }
    if (bytesMin < 1 || bytesMin > geometry.objectBytesMax()) {
      throw new IllegalArgumentException(
          "bytes asked: " + bytesMin + ", must be 1 to " + geometry.objectBytesMax());
    }
    int least = ObjectLayout.padded(bytesMin);
    RegionState state = newest[head];
    if (state == null || placeFor(state, least) < 0) {
      LeaseResult refusal =
          mayGrow(head) ? link(head, mayMake) : new LeaseResult.LogFull(geometry.capacityBytes());
      if (refusal != null) {
        return refusal;
      }
      state = newest[head];
    }
    announce(state);
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
    Extent extent = new Extent(state, place, length);
    if (extent.end() > state.high) {
      raiseHigh(state, extent.end());
    }
    active = true;
    idle = false;
    state.append = extent.end();
    state.opened(extent);
    openBytes += length;
    openExtents++;
    return extent;
  }

  private void raiseHigh(RegionState state, long end) {
    long high = stepAbove(end);
    table.storeHigh(state.region.slot(), high);
    table.drain();
    state.high = high;
  }

  /** A high-water mark for everything below {@code end}. */
  private long stepAbove(long end) {
    return Math.min(geometry.regionBytes(), (end + highStepBytes - 1) & -(long) highStepBytes);
  }

  // Cleaning.

  /** Nothing more is handed out in a region: for one that is to be cleaned. */
  public void seal(Region region) {
    seal(bySlot[region.slot()]);
  }

  /** A region's high-water mark: nothing at or above it was handed out. */
  public long highMark(Region region) {
    return bySlot[region.slot()].high;
  }

  /** Whether a writer holds space in a region. */
  public boolean hasOpenExtents(Region region) {
    return bySlot[region.slot()].hasOpenExtents();
  }

  /** Where a region's unwritten rest begins, bytes; its length when it is sealed. */
  public long appendPlace(Region region) {
    return bySlot[region.slot()].append;
  }

  /**
   * Sets space aside for all that is live in {@code victim}, durably: behind what the head appends
   * to, where it fits, else at the beginning of another region, the spare one too.
   *
   * @param packedEnd where the live objects end when they are packed from the beginning of a region
   * @param packedBytes how far they reach when they are packed from the beginning of a segment
   * @return null when there is no room for it, or no file yet: see {@link #making}
   * @throws UncheckedIOException when the directory fails otherwise than for want of space
   */
  public Stretch reserve(Region victim, long packedEnd, long packedBytes) {
    requireReady();
    if (fitsBehind(victim, packedBytes)) {
      RegionState state = newest[victim.head()];
      return reserve(state, victim, state.append, endBehind(state, packedBytes));
    }
    if (link(victim.head(), victim, packedEnd, 0, true) != null) {
      return null;
    }
    RegionState fresh = newest[victim.head()];
    announce(fresh);
    return new Stretch(fresh, victim, geometry, fresh.stretchBegin, fresh.stretchEnd);
  }

  /**
   * Whether {@link #reserve} finds room behind what the head appends to, so that it takes no other
   * region.
   *
   * @param packedBytes how far the live objects reach when they are packed from the beginning of a
   *     segment
   */
  public boolean fitsBehind(Region victim, long packedBytes) {
    RegionState state = newest[victim.head()];
    return state != null
        && state.region != victim
        && state.append < geometry.regionBytes()
        && endBehind(state, packedBytes) <= geometry.regionBytes();
  }

  /** What is packed from a later place needs no less: the next segment is the worst of all. */
  private long endBehind(RegionState state, long packedBytes) {
    return ((state.append + geometry.segmentBytes() - 1) & -(long) geometry.segmentBytes())
        + packedBytes;
  }

  /** The beginning first: at no time does a stretch show that clients' objects lie in. */
  private Stretch reserve(RegionState state, Region victim, long begin, long end) {
    int slot = state.region.slot();
    if (end > state.high) {
      raiseHigh(state, end);
    }
    table.storeCleaning(slot, 0);
    table.storeStretchBegin(slot, begin);
    table.drain();
    table.storeStretchEnd(slot, end);
    table.storeCleaning(slot, victim.generation());
    table.drain();
    state.append = end;
    state.stretchBegin = begin;
    state.stretchEnd = end;
    return new Stretch(state, victim, geometry, begin, end);
  }

  /**
   * What the last run had set aside and not filled when it ended, or null. Nothing at or behind its
   * {@link Stretch#next()} was ever named.
   */
  public Stretch interrupted() {
    return interrupted;
  }

  /**
   * Before places of a stretch are named: durably, nothing of it before {@code place} is used again
   * after a crash.
   */
  public void advance(Stretch stretch, long place) {
    RegionState state = stretch.state;
    table.storeStretchBegin(state.region.slot(), place);
    table.drain();
    state.stretchBegin = place;
  }

  /**
   * The cleaning that a stretch is for has ended, or was given up; what is left of it is a hole.
   */
  public void release(Stretch stretch) {
    table.storeCleaning(stretch.state.region.slot(), 0);
  }

  /**
   * Takes a region from its head for good: record, listeners, name, in this order, each durable
   * before the next. A crash in between is finished by {@link #open}. Its slot and its index are
   * free afterwards; its file has a name that stands for nothing.
   *
   * <p>REQUIRES: no extent is open in it, no word names a place in it and none ever will, durably.
   *
   * @throws UncheckedIOException when the directory fails; the region is gone from the map all the
   *     same
   */
  public void retire(Region region) {
    requireReady();
    RegionState state = bySlot[region.slot()];
    if (state == null || state.region != region || state.hasOpenExtents()) {
      throw new IllegalStateException("region can't be retired: " + state);
    }
    int head = region.head();
    long linkWord = RegionTable.linkWord(head, region.index(), region.generation());
    table.storeLinkWord(region.slot(), RegionTable.retired(linkWord));
    table.drain();
    byHead[head][region.index()] = null;
    if (newest[head] == state) {
      newest[head] = newestOf(byHead[head]);
    }
    listRegions();
    for (LinkListener listener : listeners) {
      listener.retired(region);
    }
    try {
      directory.rename(
          RegionHeader.fileName(region.slot(), region.generation()),
          SpareFiles.nameOfLeft(region.generation()));
      directory.sync();
      table.storeLinkWord(region.slot(), 0);
      table.drain();
    } catch (IOException e) {
      throw new UncheckedIOException("can't remove " + state, e);
    }
    bySlot[region.slot()] = null;
  }

  /**
   * Keeps the file of a retired region for a later one, if few are kept and another region can be
   * linked. Its memory is the log's again then.
   *
   * <p>REQUIRES: nobody can read or write the file any more, not even with an operation that began
   * before the region was retired. A store that comes late would change another region's object.
   *
   * @return false when it is not wanted: then {@link #remove} it
   */
  public boolean reuse(Region region) {
    requireReady();
    int kept = filesLeftToCleaner() + (idle ? 0 : SpareFiles.KEPT);
    if (spares.count() >= Math.min(kept, freeRegions())) {
      return false;
    }
    spares.keep(new SpareFiles.Spare(SpareFiles.nameOfLeft(region.generation()), region.memory()));
    return true;
  }

  /** Removes the file of a retired region. Its memory is the caller's, who closes it. */
  public void remove(Region region) {
    try {
      directory.delete(SpareFiles.nameOfLeft(region.generation()));
    } catch (IOException e) {
      throw new UncheckedIOException("can't remove what is left of " + region, e);
    }
  }

  // Spare files.

  /**
   * From now on leases don't wait for a file to be made: it is made in steps, by {@link #doWork},
   * and {@link LeaseResult.NotReady} says that there is none yet.
   *
   * @param over wraps what makes a file: whoever has a thread for it
   */
  public void makeAhead(UnaryOperator<Creation> over) {
    spares.makeAhead(over);
  }

  /**
   * One step of making a file. Returns 0 when none is being made.
   *
   * @throws UncheckedIOException when the directory fails otherwise than for want of space
   */
  public int doWork() {
    try {
      return spares.step();
    } catch (IOException e) {
      throw new UncheckedIOException("can't make a file for a region", e);
    }
  }

  /**
   * Begins to make a file if one is missing: the cleaner's, or one for a head that is written to
   * and will soon need it.
   *
   * @param wanted somebody waits for one
   */
  public void prepareAhead(boolean wanted) {
    if (spares.making()) {
      return;
    }
    boolean another = freeRegions() > spareRegions && (wanted || (!idle && isLittleLeft()));
    if (spares.count() < Math.min(filesLeftToCleaner() + (another ? 1 : 0), freeRegions())) {
      make();
    }
  }

  private boolean isLittleLeft() {
    long little = Math.min(AHEAD_BYTES_MAX, geometry.regionBytes() / 2);
    for (RegionState state : newest) {
      if (state != null && geometry.regionBytes() - state.append < little) {
        return true;
      }
    }
    return false;
  }

  /**
   * Leases take no region from the cleaner, and where the disk is about to be full no file either:
   * nothing else would make room again. A log without regions needs no cleaning yet.
   */
  private int filesLeftToCleaner() {
    return (scarce || spares.full()) && !regions.isEmpty() ? spareRegions : 0;
  }

  /** Looks whether the disk is about to be full. Costs a system call. */
  public void lookAtDisk() {
    long little = Math.max(SCARCE_BYTES, SCARCE_FILES * geometry.regionBytes());
    long usable = directory.usableBytes();
    scarce = usable < little;
    if (usable >= geometry.regionBytes()) {
      spares.mayHaveRoom();
    }
  }

  private void make() {
    try {
      spares.make();
    } catch (IOException e) {
      throw new UncheckedIOException("can't make a file for a region", e);
    }
  }

  /** Whether a file is being made. */
  public boolean making() {
    return spares.making();
  }

  /** Files that are ready for another region. */
  public int spareFiles() {
    return spares.count();
  }

  /** How often there was no room for a file. */
  public long spareFailures() {
    return spares.failures();
  }

  /** Why there was none the last time. */
  public String spareFailure() {
    return spares.failure();
  }

  /**
   * Whether another region can be linked to a head, with a file that is there or that there is room
   * for.
   */
  public boolean hasSpareRegion(int head) {
    return regionsAtHand() > 0 && freeIn(byHead[head], geometry.regionsPerHeadMax()) >= 0;
  }

  /**
   * How many more regions can be linked, as far as is known: when the disk had no room for another
   * file, no more than there are files.
   */
  public int regionsAtHand() {
    return spares.full() ? Math.min(spares.count(), freeRegions()) : freeRegions();
  }

  /**
   * Gives a file back to the file system that is more than can be linked; when nothing was leased
   * since the last time that was asked, any but the cleaner's. The memory is the caller's, who
   * closes it; null: there is none.
   *
   * @param whenIdle asks whether something was leased
   */
  public PersistentMemory trimSpares(boolean whenIdle) {
    if (whenIdle) {
      idle = !active;
      active = false;
    }
    try {
      int kept = Math.min(idle ? filesLeftToCleaner() : Integer.MAX_VALUE, freeRegions());
      return spares.count() > kept ? spares.remove() : null;
    } catch (IOException e) {
      throw new UncheckedIOException("can't remove a spare file", e);
    }
  }

  private static RegionState newestOf(RegionState[] ofHead) {
    RegionState newest = null;
    for (RegionState state : ofHead) {
      if (state != null
          && (newest == null || newest.region.generation() < state.region.generation())) {
        newest = state;
      }
    }
    return newest;
  }

  /**
   * Sets regions aside that only {@link #reserve} may link: cleaning needs room to make room. The
   * first region of a head may be the last one, because without it the head's keys could not be
   * stored at all; so heads that have none yet keep others from taking it.
   */
  public void leaveSpare(int count) {
    spareRegions = count;
  }

  private boolean mayGrow(int head) {
    if (spareRegions == 0 || newest[head] == null) {
      return true;
    }
    int without = 0;
    for (RegionState state : newest) {
      without += state == null ? 1 : 0;
    }
    return freeRegions() > spareRegions + without
        && geometry.regionsPerHeadMax() - count(byHead[head]) > spareRegions;
  }

  /** How many more regions can be linked. */
  public int freeRegions() {
    return geometry.regionsMax() - count(bySlot);
  }

  private static int count(RegionState[] states) {
    int count = 0;
    for (RegionState state : states) {
      count += state == null ? 0 : 1;
    }
    return count;
  }

  private LeaseResult link(int head, boolean mayMake) {
    return link(head, null, 0, Math.min(filesLeftToCleaner(), freeRegions() - 1), mayMake);
  }

  /**
   * Links another region to a head; null when that worked. See the order in the class comment.
   *
   * @param victim for whose objects its beginning is reserved, or null
   * @param left spare files that are not for this
   * @param mayMake one more, if there is none
   */
  private LeaseResult link(int head, Region victim, long stretchEnd, int left, boolean mayMake) {
    int slot = freeIn(bySlot, geometry.regionsMax());
    int index = freeIn(byHead[head], geometry.regionsPerHeadMax());
    if (slot < 0 || index < 0 || generation == Integer.MAX_VALUE) {
      return new LeaseResult.LogFull(geometry.capacityBytes());
    }
    try {
      while (spares.count() <= left) {
        if (!mayMake) {
          return noFile();
        }
        long failures = spares.failures();
        spares.make();
        if (spares.failures() != failures) {
          return noFile();
        }
        if (spares.making()) {
          return new LeaseResult.NotReady();
        }
      }
      link(named(spares.take(), slot, head, index), victim, stretchEnd);
      return null;
    } catch (IOException e) {
      throw new UncheckedIOException("can't link a region to head " + head, e);
    }
  }

  private LeaseResult noFile() {
    return spares.outOfSpace()
        ? new LeaseResult.DiskFull(spares.failure())
        : new LeaseResult.NotNow(spares.failure());
  }

  /** Gives a file the header and the name of {@link #generation}, which is used up with it. */
  private Region named(SpareFiles.Spare spare, int slot, int head, int index) throws IOException {
    table.storeNextGeneration(generation + 1);
    int its = generation++;
    PersistentMemory memory = spare.memory();
    // Where the first object will be: what lies there tells whether a region was ever linked.
    if (memory.segment().get(HeaderFields.LONG, Region.HEADER_BYTES) != 0) {
      memory.putLongRelease(Region.HEADER_BYTES, 0);
      memory.flush(Region.HEADER_BYTES, Long.BYTES);
    }
    RegionHeader.format(memory, geometry, store, slot, head, index, its);
    String name = RegionHeader.fileName(slot, its);
    boolean done = false;
    try {
      directory.rename(spare.name(), name);
      directory.sync();
      done = true;
      return new Region(slot, head, index, its, memory, new ObjectChecksum(memory.segment()));
    } finally {
      if (!done) {
        memory.close();
        directory.delete(spare.name());
        directory.delete(name);
      }
    }
  }

  private void link(Region region, Region victim, long stretchEnd) {
    int slot = region.slot();
    long append = victim == null ? Region.HEADER_BYTES : stretchEnd;
    long high = stepAbove(append);
    table.storeLow(slot, append);
    table.storeHigh(slot, high);
    table.storeStretchBegin(slot, victim == null ? 0 : Region.HEADER_BYTES);
    table.storeStretchEnd(slot, victim == null ? 0 : stretchEnd);
    table.storeCleaning(slot, victim == null ? 0 : victim.generation());
    table.drain();
    table.storeLinkWord(
        slot, RegionTable.linkWord(region.head(), region.index(), region.generation()));
    table.drain();
    seal(newest[region.head()]);
    RegionState state = new RegionState(region, append, high, append);
    state.stretchBegin = victim == null ? 0 : Region.HEADER_BYTES;
    state.stretchEnd = victim == null ? 0 : stretchEnd;
    add(state);
    listRegions();
  }

  /** What is left of a head's former region is never handed out: a hole. */
  private void seal(RegionState state) {
    if (state != null) {
      state.append = geometry.regionBytes();
      lowMoved(state);
    }
  }

  private static int freeIn(RegionState[] states, int limit) {
    for (int i = 0; i < states.length; i++) {
      if (states[i] == null) {
        return i;
      }
    }
    return states.length < limit ? states.length : -1;
  }

  private void add(RegionState state) {
    Region region = state.region;
    int head = region.head();
    bySlot[region.slot()] = state;
    if (byHead[head].length <= region.index()) {
      byHead[head] = Arrays.copyOf(byHead[head], region.index() + 1);
    }
    byHead[head][region.index()] = state;
    if (newest[head] == null || newest[head].region.generation() < region.generation()) {
      newest[head] = state;
    }
  }

  private void listRegions() {
    List<Region> list = new ArrayList<>();
    for (RegionState[] ofHead : byHead) {
      for (RegionState state : ofHead) {
        if (state != null) {
          list.add(state.region);
        }
      }
    }
    regions = List.copyOf(list);
  }

  private void announce(RegionState state) {
    if (!state.announced) {
      for (LinkListener listener : listeners) {
        listener.linked(state.region);
      }
      state.announced = true;
    }
  }

  /**
   * Says that everything in {@code extent} before {@code place} is committed and durable, or will
   * never be written. Cheap; the low-water mark follows lazily.
   *
   * @param place in the region, not beyond the extent's end; one that was settled before changes
   *     nothing
   * @throws IllegalStateException when the extent was ended: recovery may not look there any more,
   *     nothing may be committed in it
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
      lowMoved(extent.state);
    }
  }

  /**
   * Ends an extent: what of it was not published is a hole for good. One that was ended is left
   * alone.
   */
  public void end(Extent extent) {
    if (!extent.open()) {
      return;
    }
    extent.close();
    openBytes -= extent.length();
    openExtents--;
    extent.state.ended(extent);
    lowMoved(extent.state);
  }

  /** Stores the low-water mark when it moved far enough, or to where it stays. */
  private void lowMoved(RegionState state) {
    long settled = state.settled();
    if (settled - state.low >= lowStepBytes
        || (settled == state.high && state.append == geometry.regionBytes())) {
      storeLow(state, settled);
    }
  }

  /**
   * Stores every low-water mark that moved, flushed, not drained. For when the server is idle: the
   * next recovery then has less to look at.
   */
  public void storeLowMarks() {
    requireReady();
    for (RegionState state : bySlot) {
      if (state != null) {
        storeLow(state, state.settled());
      }
    }
  }

  private void storeLow(RegionState state, long settled) {
    if (settled != state.low) {
      table.storeLow(state.region.slot(), settled);
      state.low = settled;
    }
  }

  /** Visits what lies between the marks: every 8-byte place with a valid positional checksum. */
  public interface ScanVisitor {
    /**
     * A whole object at a place. It may lie inside another's value, where a client wrote it on
     * purpose; so a find counts only if the word of its key names exactly this place.
     *
     * @param offset 8-byte units along the head's regions
     * @param bytes of header, key and value, without padding
     */
    void object(Region region, int offset, long place, int bytes);
  }

  /**
   * Walks [low, high) of every region, by head and index, rising. Returns bytes looked at. Every
   * 8-byte place is looked at, also inside objects that were found, and an object never counts that
   * reaches beyond its segment or the high-water mark. A stretch of the cleaner's is passed over:
   * no pending word names anything there. The time is bounded by the bytes, whatever clients wrote
   * there; memory beside is 1.5 times the longest stretch in one segment.
   */
  public long scan(ScanVisitor visitor) {
    ObjectScan scan = new ObjectScan();
    long looked = 0;
    for (Region region : regions) {
      RegionState state = bySlot[region.slot()];
      for (long from = state.low; from < state.high; ) {
        if (from >= state.stretchBegin && from < state.stretchEnd) {
          from = state.stretchEnd;
          continue;
        }
        long to = Math.min(state.high, geometry.segmentEnd(from));
        if (from < state.stretchBegin && state.stretchBegin < state.stretchEnd) {
          to = Math.min(to, state.stretchBegin);
        }
        scan.scan(
            region.memory().segment(),
            region.head(),
            region.generation(),
            geometry.offset(region.index(), from),
            from,
            to,
            (place, bytes) ->
                visitor.object(region, geometry.offset(region.index(), place), place, bytes));
        looked += to - from;
        from = to;
      }
    }
    return looked;
  }

  /**
   * Closes the marks of every region at high, durably: what is below is never handed out again in
   * this generation. Whatever the caller decided about what {@link #scan} found is durable before.
   * May be interrupted and repeated; does nothing in a log that is in use.
   */
  public void closeMarks() {
    if (marksClosed) {
      return;
    }
    for (RegionState state : bySlot) {
      if (state != null) {
        // open() put the point of appending at high, and made high durable: low never overtakes it
        // in what survives.
        storeLow(state, state.high);
      }
    }
    table.drain();
    marksClosed = true;
  }

  /** The region that a head appends to, or null while it has none. */
  public Region appendRegion(int head) {
    return newest[head] == null ? null : newest[head].region;
  }

  /** Where a head appends in {@link #appendRegion}, bytes: nothing from here on was handed out. */
  public long appendPlace(int head) {
    return newest[head] == null ? 0 : newest[head].append;
  }

  /** The most that open extents may hold before leases get no more than their minimum, bytes. */
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
    for (Region region : regions) {
      used += bySlot[region.slot()].append;
    }
    return new Usage(
        regions.size() * geometry.regionBytes(),
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

  private void requireReady() {
    if (closed) {
      throw new IllegalStateException("the log is closed");
    }
    if (!marksClosed) {
      throw new IllegalStateException("the marks of the last run are not closed yet");
    }
  }

  /**
   * Stores the marks as they are, durably, and releases the memories. What was leased stays below
   * the high-water mark; what was not is given back, so a restart in order costs no space. Between
   * {@link #open} and {@link #closeMarks} it stores nothing. Closing again has no effect.
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
    if (closed) {
      return;
    }
    try {
      if (marksClosed && inOrder) {
        storeLowMarks();
        storeHighMarksAtAppend();
        table.drain();
        removeSpares();
      }
    } finally {
      closed = true;
      closeMemories();
    }
  }

  private void removeSpares() {
    try {
      spares.giveUp();
      for (PersistentMemory memory = spares.remove(); memory != null; memory = spares.remove()) {
        memory.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException("can't remove a spare file", e);
    }
  }

  private void storeHighMarksAtAppend() {
    for (RegionState state : bySlot) {
      if (state != null && state.append < state.high) {
        table.storeHigh(state.region.slot(), state.append);
        state.high = state.append;
      }
    }
  }

  /** Those of the region table and of all linked regions. */
  public List<PersistentMemory> memories() {
    List<PersistentMemory> memories = new ArrayList<>();
    memories.add(table.memory());
    regions.forEach(region -> memories.add(region.memory()));
    return memories;
  }

  private void closeMemories() {
    for (RegionState state : bySlot) {
      if (state != null) {
        state.region.memory().close();
      }
    }
    spares.close();
    table.memory().close();
  }
}
