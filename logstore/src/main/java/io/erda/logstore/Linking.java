package io.erda.logstore;

import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Links regions to heads and retires them, and tells the listeners. One thread.
 *
 * <p><b>Order of linking</b>, each step durable before the next: next generation; the header in a
 * spare file; the file's name; the marks; the link word; then the listeners are called; then space
 * is leased. A crash in between leaves a file that no record names, and an unused generation.
 * Making the file takes long, and may be done before ({@link FileSupply#makeAhead}). A file that
 * can't be given its name, but can be removed under every name that it has, or is left behind
 * because nobody may change the directory now, counts as a file that could not be made: nothing
 * depends on it, and the next linking tries another file.
 *
 * <p><b>Order of retiring</b>: the record, the listeners, the name of the file ({@link
 * RetiredFiles}), each durable before the next.
 */
final class Linking {
  private final MemoryDirectory directory;
  private final UUID store;
  private final RegionTable table;
  private final LinkedRegions linked;
  private final WaterMarks marks;
  private final FileSupply files;
  private final RetiredFiles retired;
  private final LogGeometry geometry;
  private final List<LinkListener> listeners = new ArrayList<>();

  /** The generation of the next region. No file has ever had it. */
  private int generation;

  Linking(
      MemoryDirectory directory,
      UUID store,
      RegionTable table,
      LinkedRegions linked,
      WaterMarks marks,
      FileSupply files,
      RetiredFiles retired) {
    this.directory = directory;
    this.store = store;
    this.table = table;
    this.linked = linked;
    this.marks = marks;
    this.files = files;
    this.retired = retired;
    this.geometry = linked.geometry();
    this.generation = table.nextGeneration();
  }

  void onLink(LinkListener listener) {
    listeners.add(listener);
  }

  /**
   * Links another region to a head, for leases. Returns null when that worked.
   *
   * @param mayMake whether to make a file, if there is none
   */
  LeaseResult linkForLeases(int head, boolean mayMake) {
    int others = Math.min(files.forCleaner(), linked.freeRegions() - 1);
    return link(head, null, 0, others, mayMake);
  }

  /**
   * Links another region to a head, and reserves its beginning for the live objects in {@code
   * victim}. Returns null when that worked. The cleaner may take every spare file.
   */
  LeaseResult linkForCopies(Region victim, long copiesEnd) {
    return link(victim.head(), victim, copiesEnd, 0, true);
  }

  private LeaseResult link(int head, Region victim, long copiesEnd, int others, boolean mayMake) {
    int slot = linked.freeSlot();
    int index = linked.freeIndex(head);
    if (slot < 0 || index < 0 || generation == Integer.MAX_VALUE) {
      return new LeaseResult.LogFull(geometry.capacityBytes());
    }
    try {
      LeaseResult refusal = files.provide(others, mayMake);
      if (refusal == null) {
        link(named(files.take(), slot, head, index), victim, copiesEnd);
      }
      return refusal;
    } catch (NotNamedException e) {
      return files.notNamed(e.why);
    } catch (IOException e) {
      throw new UncheckedIOException("can't link a region to head " + head, e);
    }
  }

  /** A spare file could not be given a region's name, and is removed, or left behind. */
  private static final class NotNamedException extends IOException {
    private static final long serialVersionUID = 1;

    final transient IOException why;

    NotNamedException(IOException why) {
      super(why);
      this.why = why;
    }
  }

  /**
   * Gives a file the header and the name of the next generation. This generation is then used up.
   */
  private Region named(SpareFiles.Spare spare, int slot, int head, int index) throws IOException {
    table.storeNextGeneration(generation + 1);
    int its = generation++;
    PersistentMemory memory = spare.memory();
    // The place of the first object shows whether the file's region was ever linked, so it is
    // emptied first.
    if (memory.segment().get(HeaderFields.LONG, Region.HEADER_BYTES) != 0) {
      memory.putLongRelease(Region.HEADER_BYTES, 0);
      memory.flush(Region.HEADER_BYTES, Long.BYTES);
    }
    RegionHeader.format(memory, geometry, store, slot, head, index, its);
    String name = LogFiles.region(slot, its);
    boolean done = false;
    try {
      rename(spare.name(), name);
      directory.sync();
      files.named();
      done = true;
      return new Region(slot, head, index, its, memory, new ObjectChecksum(memory.segment()));
    } finally {
      if (!done) {
        memory.close();
        giveUp(spare.name());
        giveUp(name);
      }
    }
  }

  /**
   * Removes a file that has not become a region. Where the directory may not be written to now, the
   * file is left behind: its generation is used up, and no record names it, so it does no harm.
   */
  private void giveUp(String name) throws IOException {
    try {
      directory.delete(name);
    } catch (AccessDeniedException e) {
      files.leave(name);
    }
  }

  private void rename(String from, String to) throws NotNamedException {
    try {
      directory.rename(from, to);
    } catch (IOException e) {
      throw new NotNamedException(e);
    }
  }

  private void link(Region region, Region victim, long copiesEnd) {
    int slot = region.slot();
    long append = victim == null ? Region.HEADER_BYTES : copiesEnd;
    long high = marks.stepAbove(append);
    assert Region.HEADER_BYTES <= append && append <= high && high <= geometry.regionBytes()
        : "low mark " + append + ", high mark " + high;
    table.storeLow(slot, append);
    table.storeHigh(slot, high);
    table.storeCopiesBegin(slot, victim == null ? 0 : Region.HEADER_BYTES);
    table.storeCopiesEnd(slot, victim == null ? 0 : copiesEnd);
    table.storeCleaning(slot, victim == null ? 0 : victim.generation());
    table.drain();
    table.storeLinkWord(
        slot, RegionTable.linkWord(region.head(), region.index(), region.generation()));
    table.drain();
    RegionState former = linked.newest(region.head());
    assert former == null || former.region.generation() < region.generation()
        : "generation " + region.generation() + " behind " + former;
    if (former != null) {
      marks.seal(former);
    }
    RegionState state = new RegionState(region, append, high, append);
    state.copiesBegin = victim == null ? 0 : Region.HEADER_BYTES;
    state.copiesEnd = victim == null ? 0 : copiesEnd;
    linked.add(state);
    linked.list();
  }

  /** Calls the listeners for a region, unless all of them were called. */
  void announce(RegionState state) {
    if (!state.announced) {
      for (LinkListener listener : listeners) {
        listener.linked(state.region);
      }
      state.announced = true;
    }
  }

  /** See {@link CleaningSpace#retire}. */
  void retire(Region region) {
    RegionState state = linked.state(region);
    if (state == null || state.region != region || state.hasOpenExtents()) {
      throw new IllegalStateException("region can't be retired: " + state);
    }
    long linkWord = RegionTable.linkWord(region.head(), region.index(), region.generation());
    table.storeLinkWord(region.slot(), RegionTable.retired(linkWord));
    table.drain();
    linked.unlink(state);
    for (LinkListener listener : listeners) {
      listener.retired(region);
    }
    retired.finish(region);
    linked.free(state);
  }
}
