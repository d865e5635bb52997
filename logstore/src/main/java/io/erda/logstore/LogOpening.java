package io.erda.logstore;

import io.erda.pmem.Leftovers;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.NotAMemoryException;
import io.erda.pmem.PersistentMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * Opens the regions that the region table names: finishes retirements, maps every linked region and
 * checks its header, finds a cleaning that was interrupted, and removes files that no record names.
 * Used once.
 */
final class LogOpening {
  private final MemoryDirectory directory;
  private final Leftovers leftovers;
  private final LogGeometry geometry;
  private final UUID store;
  private final RegionTable table;
  private final LinkedRegions linked;
  private final List<String> notes = new ArrayList<>();

  /** A generation above all generations so far. */
  private int nextGeneration;

  private CopySpace interrupted;

  /**
   * @param linked receives the regions; no region is linked yet
   */
  LogOpening(
      MemoryDirectory directory,
      Leftovers leftovers,
      UUID store,
      RegionTable table,
      LinkedRegions linked) {
    this.directory = directory;
    this.leftovers = leftovers;
    this.geometry = linked.geometry();
    this.store = store;
    this.table = table;
    this.linked = linked;
  }

  void run() throws IOException {
    openRegions();
    removeUnnamed();
  }

  /** Returns sentences about the findings and repairs. */
  List<String> notes() {
    return notes;
  }

  /** The copy space of a cleaning that the last run did not finish, or null. */
  CopySpace interrupted() {
    return interrupted;
  }

  private void openRegions() throws IOException {
    nextGeneration = table.nextGeneration();
    long[] linkWords = table.linkWords(geometry);
    finishRetirements(linkWords);
    for (int slot = 0; slot < linkWords.length; slot++) {
      if (linkWords[slot] != 0) {
        openRegion(slot, linkWords[slot]);
      }
    }
    linked.forEach(state -> {
      if (linked.newest(state.region.head()) != state) {
        state.append = geometry.regionBytes();
      }
    });
    linked.list();
    findInterrupted();
  }

  /** Removes the files and the records of retired regions, which no client can access. */
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

  /**
   * Removes a file, durably, before its record is removed, because a file with objects that no
   * record names would count as damage.
   */
  private void removeFile(int slot, int itsGeneration) throws IOException {
    directory.delete(LogFiles.region(slot, itsGeneration));
    directory.sync();
    table.storeLinkWord(slot, 0);
    table.drain();
  }

  private void findInterrupted() {
    for (Region target : linked.regions()) {
      int victim = table.cleaning(target.slot());
      for (Region region : victim == 0 ? List.<Region>of() : linked.regions()) {
        RegionState state = linked.state(target);
        if (region.generation() == victim
            && region.head() == target.head()
            && state.copiesBegin < state.copiesEnd) {
          interrupted = new CopySpace(target, region, geometry, state.copiesBegin, state.copiesEnd);
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
      state.copiesBegin = table.copiesBegin(slot);
      state.copiesEnd = table.copiesEnd(slot);
      linked.add(state);
      added = true;
    } finally {
      if (!added) {
        memory.close();
      }
    }
  }

  private PersistentMemory openMemory(int slot, int itsGeneration) throws IOException {
    String name = LogFiles.region(slot, itsGeneration);
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
    if (linked.at(head, index) != null) {
      throw new DamagedLogException(
          what
              + "head "
              + head
              + ", index "
              + index
              + " is linked to slot "
              + linked.at(head, index).region.slot()
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
    long begin = table.copiesBegin(slot);
    long end = table.copiesEnd(slot);
    if (begin < 0 || begin > high || end < 0 || end > high || ((begin | end) & 7) != 0) {
      throw new DamagedLogException(
          what + "copy space " + begin + " to " + end + ", high mark " + high);
    }
  }

  private void requireGeneration(String what, int itsGeneration) {
    if (itsGeneration <= 0 || itsGeneration >= nextGeneration) {
      throw new DamagedLogException(
          what + "generation " + itsGeneration + ", next is " + nextGeneration);
    }
  }

  private void removeUnnamed() throws IOException {
    Set<String> named = new HashSet<>();
    for (Region region : linked.regions()) {
      named.add(LogFiles.region(region.slot(), region.generation()));
    }
    int removed = 0;
    for (String name : directory.names()) {
      if (SpareFiles.FILE.matcher(name).matches()) {
        leftovers.remove(name);
      } else if (LogFiles.isRegion(name) && !named.contains(name)) {
        requireNeverHandedOut(name);
        removed += leftovers.remove(name) ? 1 : 0;
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
   * Throws when space in a file without a record was ever handed out. An interrupted linking has
   * handed out no space, and the place of the first object is empty even in a reused file. A file
   * with objects was linked, so its record was lost, and the file must not be removed. The first
   * place may be empty in such a file, too, when the client that had leased it died, so every place
   * is checked.
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
    } catch (NotAMemoryException e) {
      // The file is too short to be opened, because a kill interrupted its creation.
    }
  }
}
