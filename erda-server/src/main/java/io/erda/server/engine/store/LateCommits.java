package io.erda.server.engine.store;

import io.erda.hashtable.Entry;
import io.erda.hashtable.HashTable;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LinkedRegions;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.LogStore;
import io.erda.pmem.Leftovers;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.OutOfSpaceException;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.Commits;
import io.erda.protocol.StoreTables;
import io.erda.server.engine.files.CommitsFile;
import io.erda.server.engine.files.CommitsFile.Standing;
import io.erda.server.engine.files.StoreFiles;
import io.erda.server.engine.files.Superblock;
import io.erda.server.engine.tables.Tables;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.LongStream;

/**
 * Keeps the stopped clients of a server from changing the table when they go on (protocol's {@code
 * FORMAT.md}, "Commits"). A client that was stopped between its last look at the turn and its swap
 * makes this swap whenever it goes on, even if its server has died and the store was opened again
 * since. Its record stands as long.
 *
 * <p>To <em>defeat</em> it, the server stores another word with the same meaning over the one that
 * the client expects. From then on the entry never has the expected word again: see {@link #bars}
 * and {@link #pins}. An opening defeats all of them and goes on with a copy of the table.
 */
public final class LateCommits {
  private LateCommits() {}

  // An opening.

  /**
   * Ends the commits of clients of an earlier server, but for those whose records stand afterwards.
   * Leaves no memory open. Does not ask whether the machine was started anew since: a container may
   * have another number for the same start.
   */
  static void fence(MemoryDirectory directory) throws IOException {
    try (CommitsFile file = CommitsFile.open(directory)) {
      if (file != null) {
        file.fence();
      }
    }
  }

  /**
   * Whether an opening that died has left a table that the superblock does not name: one that was
   * replaced by a copy, or the copy. Leaves no memory open.
   */
  static boolean hasLeft(MemoryDirectory directory, StoreTables tables, String name)
      throws IOException {
    try (CommitsFile file = CommitsFile.open(directory)) {
      if (file == null || file.copied().isEmpty()) {
        return false;
      }
      return name.equals(StoreFiles.table(tables.made() + 1))
          || file.copied().stream().anyMatch(each -> isTable(name, each));
    }
  }

  private static boolean isTable(String name, long number) {
    return name.equals(StoreFiles.table((int) number));
  }

  /**
   * How an opening goes on.
   *
   * @param superblock as it is stored now
   * @param kept the records whose clients may still change the table that is in use
   */
  record Settled(Superblock superblock, List<Standing> kept) {}

  /**
   * Defeats the commits whose records stand, and replaces the tables that they name by copies.
   * REQUIRES: {@link #fence}; no table is open.
   */
  static Settled settle(
      MemoryDirectory directory,
      Leftovers leftovers,
      Superblock superblock,
      PersistentMemory superblockMemory,
      List<String> notes)
      throws IOException {
    if (!directory.exists(Commits.FILE)) {
      return new Settled(superblock, List.of());
    }
    Superblock now = superblock;
    List<Standing> kept = new ArrayList<>();
    try (CommitsFile file = CommitsFile.open(directory)) {
      List<Standing> late = file == null ? List.of() : file.standing();
      for (int table : tablesOf(superblock.tables(), late)) {
        List<Standing> ofTable = late.stream().filter(each -> each.table() == table).toList();
        defeat(directory, table, ofTable);
        StoreTables with = now.tables().withCopyOf(table);
        if (file.storeCopied(table) && copy(directory, table, with.made())) {
          now = now.withTables(with);
          now.store(superblockMemory);
          now = now.stored();
          leftovers.remove(StoreFiles.table(table));
          notes.add(
              "a client was in the middle of a commit when the last server ended: the table was"
                  + " copied, so that the commit has no effect");
        } else {
          kept.addAll(ofTable);
          notes.add(
              "a client was in the middle of a commit when the last server ended, and there is no"
                  + " room for a copy of the table: until the next start no client commits by"
                  + " itself");
        }
      }
      StoreTables used = now.tables();
      boolean isLeft =
          file != null
              && file.copied().stream()
                  .map(each -> StoreFiles.table((int) (long) each))
                  .anyMatch(name -> !isNamed(used, name) && directory.exists(name));
      if (kept.isEmpty() && !isLeft) {
        // No table is left that only this file explains.
        directory.delete(Commits.FILE);
      }
    }
    return new Settled(now, kept);
  }

  private static boolean isNamed(StoreTables tables, String name) {
    return name.equals(StoreFiles.table(tables.generation()))
        || tables.resizing() && name.equals(StoreFiles.table(tables.nextGeneration()));
  }

  private static Set<Integer> tablesOf(StoreTables tables, List<Standing> late) {
    Set<Integer> all = new TreeSet<>();
    for (Standing each : late) {
      boolean used =
          each.table() == tables.generation()
              || tables.resizing() && each.table() == tables.nextGeneration();
      if (used) {
        all.add((int) each.table());
      }
    }
    return all;
  }

  private static void defeat(MemoryDirectory directory, int table, List<Standing> late)
      throws IOException {
    try (PersistentMemory memory = directory.open(StoreFiles.table(table))) {
      for (Standing each : late) {
        if (isSlot(memory, each.slot())) {
          defeat(memory, each, late);
        }
      }
      memory.drain();
    }
  }

  /** Copies a table, durably. Returns false when there is no room. */
  private static boolean copy(MemoryDirectory directory, int table, int to) throws IOException {
    String name = StoreFiles.table(to);
    directory.delete(name);
    try (PersistentMemory from = directory.open(StoreFiles.table(table));
        PersistentMemory copy = directory.create(name, from.segment().byteSize())) {
      long bytes = from.segment().byteSize();
      copy.put(0, from.segment(), 0, bytes);
      copy.flush(0, bytes);
      copy.drain();
    } catch (OutOfSpaceException e) {
      return false;
    }
    directory.sync();
    return true;
  }

  // Also while a store is served.

  /**
   * Makes the file by which a server lets clients commit; null when there is no room, or when a
   * client of an earlier server may still change the table.
   */
  public static CommitsFile newFile(StoreEngine engine) {
    MemoryDirectory directory = engine.directory();
    if (directory.exists(Commits.FILE)) {
      return null;
    }
    try {
      return CommitsFile.create(directory);
    } catch (IOException e) {
      return null;
    }
  }

  /** Removes the file of a server that ends. REQUIRES: no record stands in it. */
  public static void removeFile(StoreEngine engine) {
    if (!engine.isAbandoned()) {
      try {
        engine.directory().delete(Commits.FILE);
      } catch (IOException e) {
        // The next opening removes it.
      }
    }
  }

  private static boolean isSlot(PersistentMemory memory, long slot) {
    return slot >= 0
        && slot < (memory.segment().byteSize() - HashTable.entriesOffset()) / Entry.BYTES;
  }

  /**
   * Makes the swap of a stopped client fail, if it was not made yet: if the entry has the word that
   * the client expects, it gets another one that names the same version, and that no standing
   * record expects. REQUIRES: nobody else changes the table but clients whose records stand.
   *
   * @param all all records that stand
   * @return false when there is no such word
   */
  public static boolean defeat(
      PersistentMemory memory, Standing standing, Collection<Standing> all) {
    if (!isSlot(memory, standing.slot())
        || VersionWord.pending(standing.expected())
        || VersionWord.newest(standing.expected()) == VersionWord.NONE) {
      // No client of this version stores such a record.
      return true;
    }
    long at = HashTable.entriesOffset() + standing.slot() * Entry.BYTES + Entry.VERSION_WORD_OFFSET;
    long expected = standing.expected();
    for (int i = 1; i < VersionWord.sameMax(); i++) {
      long other = VersionWord.same(expected, i);
      boolean free =
          all.stream().noneMatch(each -> each.expects(standing.table(), standing.slot(), other));
      if (other != expected && free) {
        // If the swap of the client comes first, this one fails, and the put was done in time.
        memory.compareAndSetLong(at, expected, other);
        memory.flush(at, Long.BYTES);
        return true;
      }
    }
    return Commits.load(memory.segment(), at) != expected;
  }

  /**
   * The slots of a table that get no other key: a key of another head may have an object at the
   * same offset, and so the word that a stopped client expects.
   */
  public static long[] bars(Collection<Standing> all, int table) {
    return all.stream()
        .filter(each -> each.table() == table)
        .mapToLong(Standing::slot)
        .distinct()
        .toArray();
  }

  /**
   * The places along the heads, for {@link LinkedRegions#pin(long[])}, where no further region is
   * linked: the newest version of a word that a stopped client expects is not to be another object.
   */
  public static long[] pins(Collection<Standing> all, LogGeometry geometry) {
    return all.stream()
        .flatMapToLong(each -> {
          int head = Entry.headOf(each.keyWord());
          int expected = VersionWord.newest(each.expected());
          return LongStream.of(
              LinkedRegions.pin(head, geometry.regionIndex(expected)),
              LinkedRegions.pin(head, geometry.regionIndex(each.offset())));
        })
        .distinct()
        .toArray();
  }

  /** Keeps the entries of stopped clients as {@link #bars} and {@link #pins} say. */
  public static void keep(Collection<Standing> all, Tables tables, LogStore log) {
    tables.inUse().forEach(each -> each.table().bar(bars(all, each.number())));
    log.linked().pin(pins(all, log.geometry()));
  }
}
