package io.erda.simulation.system;

import io.erda.hashtable.HashTable;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogFiles;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.ForwardingMemory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import io.erda.protocol.PutMode;
import io.erda.protocol.Root;
import io.erda.protocol.StoreTables;
import io.erda.protocol.SuperblockLayout;
import io.erda.server.engine.files.StoreFiles;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.simulation.SimulatedDisk;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Checks every store into a table against the rules for version words (rules 3 and 5): a new offset
 * names a whole object that survives the failures which the store promises to survive; two
 * undecided versions never are in one word; a pending word is durable before it is committed; a
 * committed word is only replaced by an update, a relocation, an emptying, a displacement, the
 * defeat of a client's commit, or a move into the next table, where its copy stays the same until
 * the original is marked; no word is stored that a client within a commit expects in its place.
 *
 * <p>Reads the disk from outside: the visible and the durable words. Throws {@link AssertionError}
 * from the store that breaks a rule.
 */
final class VersionWordRules {
  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final long INTENT_AT = 64;
  private static final long INTENT_VALID_AT = 104;
  private static final long INTENT_BYTES = 48;
  private static final long STRETCH_AT = 128;
  private static final long RECORDS_AT = 4096;
  private static final long RECORD_BYTES = 64;
  private static final int STATE_LINKED = 0xA5;
  private static final int ENTRY_BYTES = 16;

  private final SimulatedDisk disk;
  private final LogGeometry geometry;

  /** Whether words must be durable before they are committed. */
  private boolean durably;

  private boolean pendingFirst;

  /** Whether puts announce first: a word is pending before its object is there. */
  private final boolean announces;

  private boolean serving;
  private final StandingRecords standing;

  VersionWordRules(SimulatedDisk disk, StoreGeometry store) {
    this.disk = disk;
    this.standing = new StandingRecords(disk);
    this.geometry = store.geometry();
    this.announces = store.putMode() == PutMode.ANNOUNCE;
    this.durably = disk.domain().survives() == Survives.POWER_FAILURE;
    this.pendingFirst = announces || disk.domain().visibleBeforeDurable();
  }

  /** The directory of a new process, whose stores into tables are checked. */
  MemoryDirectory over(MemoryDirectory directory) {
    serving = false;
    return new Watched(directory);
  }

  /**
   * Notes that the process begins to serve. During its start readers accepted nothing, so words
   * could be committed before they were durable; that ends now.
   */
  void serves() {
    serving = true;
    if (!durably) {
      return;
    }
    for (String name : disk.names()) {
      if (name.startsWith(StoreFiles.TABLE_PREFIX)
          && !disk.settled(name, 0, disk.image(name).byteSize())) {
        throw new AssertionError(name + " is served and not durable");
      }
    }
  }

  private void check(String table, MemorySegment memory, long offset, long next) {
    if (offset < HashTable.entriesOffset()) {
      return;
    }
    long slot = (offset - HashTable.entriesOffset()) / ENTRY_BYTES;
    if (offset % ENTRY_BYTES == 0) {
      checkKeyWord(table, memory, slot, offset);
      return;
    }
    long word = memory.get(WORD, offset);
    if (word == VersionWord.MOVED && next != word) {
      requireForgotten(table, memory, slot, next);
      return;
    }
    if (next == word) {
      return;
    }
    if (standing.expect(table, slot, next)) {
      throw new AssertionError(
          "slot " + slot + " gets the word that a client within a commit expects there");
    }
    if (partOfMove(table, memory, slot, word, next) || standing.isDefeat(table, slot, word, next)) {
      return;
    }
    long keyWord = memory.get(WORD, offset - 8);
    // The object of an announced word is not there yet, so its key is unknown; and such an entry is
    // never moved.
    boolean announced = announces && VersionWord.pending(word == 0 ? next : word);
    long original =
        next == VersionWord.MOVED || announced
            ? 0
            : original(table, keyWord, VersionWord.newest(word == 0 ? next : word));
    String wrong =
        next == VersionWord.MOVED
            ? wrongMark(keyWord, word)
            : original == 0
                ? wrong(table, memory, offset, word, next)
                : wrongCopy(table, offset, original, word, next);
    if (wrong != null) {
      throw new AssertionError(
          "version word of slot "
              + slot
              + ": "
              + VersionWord.toString(word)
              + " -> "
              + VersionWord.toString(next)
              + ": "
              + wrong);
    }
  }

  /** Checks that a key word changes only while its version word is 0, and that this stays 0. */
  private void checkKeyWord(String table, MemorySegment memory, long slot, long offset) {
    boolean moving = memory.get(WORD, INTENT_VALID_AT) != 0;
    long word = memory.get(WORD, offset + 8);
    if (moving || (word == 0 && (!durably || disk.settled(table, offset + 8, 8)))) {
      return;
    }
    throw new AssertionError(
        "key word of slot "
            + slot
            + " changes beside a version word that is "
            + VersionWord.toString(word)
            + (word == 0 ? " and not durably so" : ""));
  }

  /**
   * Requires that a slot whose entry was moved is freed only when a halving turns around, and then
   * no stretch says that its copy might be superfluous.
   */
  private void requireForgotten(String table, MemorySegment memory, long slot, long next) {
    StoreTables tables = tables();
    boolean forgotten =
        next == 0
            && tables.halving()
            && table.equals(StoreFiles.table(tables.generation()))
            && memory.get(WORD, STRETCH_AT) == 0
            && (!durably || disk.settled(table, STRETCH_AT, 8));
    if (!forgotten) {
      throw new AssertionError(
          "slot "
              + slot
              + " of "
              + table
              + ", whose entry was moved, becomes "
              + VersionWord.toString(next)
              + " beside stretch word "
              + Long.toHexString(memory.get(WORD, STRETCH_AT)));
    }
  }

  /** The tables that the superblock names. */
  private StoreTables tables() {
    return SuperblockLayout.newest(disk.image(StoreFiles.SUPERBLOCK)).tables();
  }

  /**
   * Whether a store is part of a displacement while its intent is valid; {@code CrashTest} checks
   * more of it.
   */
  private boolean partOfMove(String table, MemorySegment memory, long slot, long word, long next) {
    if (memory.get(WORD, INTENT_VALID_AT) == 0) {
      return false;
    }
    long moved = memory.get(WORD, INTENT_AT + 24);
    long destination = memory.get(WORD, INTENT_AT + 8);
    if (slot == destination && slot == memory.get(WORD, INTENT_AT) && next == 0) {
      // The intent is not that of a move, but that of the removal of an entry.
      requireDurable(table, INTENT_AT, INTENT_BYTES, "an entry is removed under an intent");
      return word == moved;
    }
    if (slot == destination && word == 0 && next == moved) {
      requireDurable(table, INTENT_AT, INTENT_BYTES, "an entry is moved under an intent");
      return true;
    }
    if (slot == memory.get(WORD, INTENT_AT) && word == moved && next == 0) {
      long at = HashTable.entriesOffset() + destination * ENTRY_BYTES;
      requireDurable(table, at, ENTRY_BYTES, "an entry is emptied for a destination");
      return memory.get(WORD, at + 8) == moved;
    }
    return false;
  }

  private void requireDurable(String table, long offset, long bytes, String what) {
    if (serving && durably && !disk.settled(table, offset, bytes)) {
      throw new AssertionError("version word of a displacement: " + what + " that is not durable");
    }
  }

  /**
   * Returns the error of marking an entry as moved, or null. The entry's copy must be in the next
   * table, and durable.
   */
  private String wrongMark(long keyWord, long word) {
    String next = StoreFiles.table(tables().nextGeneration());
    if (VersionWord.pending(word) || word == 0) {
      return "not an entry that can be moved";
    }
    long copy = find(next, keyWord, word);
    if (copy < 0) {
      return "marked as moved, and " + next + " has no copy";
    }
    return serving && durably && !disk.settled(next, copy - 8, ENTRY_BYTES)
        ? "marked as moved before its copy is durable"
        : null;
  }

  /**
   * Returns the error of a change of a copy whose original is not marked yet, or null. A copy may
   * be made or removed, but not changed.
   */
  private String wrongCopy(String table, long offset, long original, long word, long next) {
    if (word == 0 && next == original) {
      return durably && !disk.settled(table, offset - 8, 8)
          ? "copied before its key word is durable"
          : null;
    }
    return next == 0 ? null : "a copy changes before its original is marked as moved";
  }

  /**
   * The word of a key's entry in the table that is being left, while it is there and not marked;
   * else 0. The key is that of the version at an offset. An entry whose announced object may not be
   * there yet is passed over: it is never moved, so it is the original of no copy, and at its
   * newest offset there may be the bytes of an earlier object, which may have any key.
   */
  private long original(String table, long keyWord, int offset) {
    StoreTables tables = disk.image(StoreFiles.SUPERBLOCK) == null ? null : tables();
    if (tables == null || !table.equals(StoreFiles.table(tables.nextGeneration()))) {
      return 0;
    }
    MemorySegment memory = disk.image(StoreFiles.table(tables.generation()));
    for (long at = firstWord(); memory != null && at < memory.byteSize(); at += ENTRY_BYTES) {
      long word = memory.get(WORD, at);
      if (word != 0
          && word != VersionWord.MOVED
          && !(announces && VersionWord.pending(word))
          && memory.get(WORD, at - 8) == keyWord
          && sameKey((int) (keyWord >>> 56), offset, VersionWord.newest(word))) {
        return word;
      }
    }
    return 0;
  }

  /** The place of an entry with these words in a table, or −1. */
  private long find(String table, long keyWord, long word) {
    MemorySegment memory = disk.image(table);
    for (long at = firstWord(); memory != null && at < memory.byteSize(); at += ENTRY_BYTES) {
      if (memory.get(WORD, at) == word && memory.get(WORD, at - 8) == keyWord) {
        return at;
      }
    }
    return -1;
  }

  private static long firstWord() {
    return HashTable.entriesOffset() + 8;
  }

  private String wrong(String table, MemorySegment memory, long offset, long word, long next) {
    if (VersionWord.pending(word)) {
      if (next == VersionWord.commit(word)) {
        if (announces) {
          int head = (int) (memory.get(WORD, offset - 8) >>> 56);
          String torn = wrongObject(head, VersionWord.newest(word), "the committed version");
          if (torn != null) {
            return torn;
          }
        }
        return serving && durably && !disk.settled(table, offset, 8)
            ? "committed before its pending word is durable"
            : null;
      }
      if (next == VersionWord.rollback(word)) {
        return announces ? wrongRollback(memory, offset, word) : null;
      }
      if (next == VersionWord.withOlder(word, VersionWord.older(next))) {
        int head = (int) (memory.get(WORD, offset - 8) >>> 56);
        return wrongObject(head, VersionWord.older(next), "the moved older version");
      }
    }
    if (next == 0) {
      int headOfKey = (int) (memory.get(WORD, offset - 8) >>> 56);
      return VersionWord.pending(word)
          ? "a pending entry is emptied"
          : isValue(headOfKey, VersionWord.newest(word))
              ? "a value is emptied in sight of readers, and without an intent a crash may bring it"
                  + " back"
              : null;
    }
    if (announces && VersionWord.pending(word)) {
      return "stored over a version that is not decided";
    }
    long base = VersionWord.pending(word) ? VersionWord.rollback(word) : word;
    int head = (int) (memory.get(WORD, offset - 8) >>> 56);
    boolean update = base == 0 || (base < 0) != (next < 0);
    return update
        ? wrongUpdate(table, offset, base, next, head)
        : wrongRelocation(base, next, head);
  }

  private String wrongUpdate(String table, long offset, long base, long next, int head) {
    if (VersionWord.older(next) != (base == 0 ? VersionWord.NONE : VersionWord.newest(base))) {
      return "the version before is not the one that was committed";
    }
    if (VersionWord.pending(next) != pendingFirst) {
      return pendingFirst ? "committed at once" : "pending without need";
    }
    if (base == 0 && durably && !disk.settled(table, offset - 8, 8)) {
      return "stored before its key word is durable";
    }
    return announces ? null : wrongObject(head, VersionWord.newest(next), "the new version");
  }

  /**
   * Returns the error of a rollback, or null. A whole pending version that readers may have taken
   * must stay, and during a judgement no reader may accept a result that depends on a pending word.
   */
  private String wrongRollback(MemorySegment memory, long offset, long word) {
    int head = (int) (memory.get(WORD, offset - 8) >>> 56);
    if (wrongWhole(head, VersionWord.newest(word)) == null) {
      return "a whole version is rolled back, which readers may have taken";
    }
    MemorySegment root = disk.image(StoreFiles.ROOT);
    return (Root.structureCounter(root, 0) & 1) == 0
        ? "a version is rolled back in sight of readers: the structure counter is even"
        : null;
  }

  private String wrongRelocation(long base, long next, int head) {
    if (VersionWord.pending(next)) {
      return "a committed version becomes pending";
    }
    int newest = VersionWord.newest(next);
    int older = VersionWord.older(next);
    String wrong =
        newest == VersionWord.newest(base) ? null : wrongObject(head, newest, "the moved version");
    if (wrong == null && older != VersionWord.NONE && older != VersionWord.older(base)) {
      wrong = wrongObject(head, older, "the moved older version");
    }
    return wrong;
  }

  /** Whether two objects have the same key; true also when that is unknown. */
  private boolean sameKey(int head, int offset, int other) {
    Linked linked = linked(head, offset);
    Linked otherLinked = linked(head, other);
    MemorySegment region = linked == null ? null : disk.image(linked.file());
    MemorySegment otherRegion = otherLinked == null ? null : disk.image(otherLinked.file());
    if (offset == other || region == null || otherRegion == null) {
      return true;
    }
    long place = geometry.place(offset);
    return ObjectLayout.keyEquals(
        otherRegion,
        geometry.place(other),
        region,
        place + ObjectLayout.KEY_OFFSET,
        ObjectLayout.keyLength(region, place));
  }

  /** A linked region. */
  private record Linked(String file, int generation) {}

  /** The region that an offset lies in, or null. */
  private Linked linked(int head, int offset) {
    MemorySegment records = disk.image(LogFiles.REGIONS);
    int index = geometry.regionIndex(offset);
    long slots = (records.byteSize() - RECORDS_AT) / RECORD_BYTES;
    for (int slot = 0; slot < slots; slot++) {
      long link = records.get(WORD, RECORDS_AT + RECORD_BYTES * slot);
      if (link >>> 56 == STATE_LINKED
          && (int) (link >>> 48 & 0xFF) == head
          && (int) (link >>> 32 & 0xFFFF) == index) {
        return new Linked(LogFiles.region(slot, (int) link), (int) link);
      }
    }
    return null;
  }

  /** Whether a whole object that is no tombstone lies at the offset. */
  private boolean isValue(int head, int offset) {
    return wrongObject(head, offset, "") == null
        && !ObjectLayout.tombstone(disk.image(linked(head, offset).file()), geometry.place(offset));
  }

  /** Returns the error of a version; null when its object is whole and stays whole. */
  private String wrongObject(int head, int offset, String what) {
    Linked linked = linked(head, offset);
    return linked == null
        ? what + " lies where no region is linked: head " + head + ", offset " + offset
        : wrongObject(linked.file(), linked.generation(), head, offset, what);
  }

  /** Returns why a version is not whole; null when it is whole. */
  private String wrongWhole(int head, int offset) {
    boolean was = durably;
    durably = false;
    try {
      return wrongObject(head, offset, "");
    } finally {
      durably = was;
    }
  }

  private String wrongObject(String file, int generation, int head, int offset, String what) {
    MemorySegment region = disk.image(file);
    if (region == null) {
      return what + " lies in " + file + ", which is not there";
    }
    long place = geometry.place(offset);
    int mix = ObjectChecksum.positionMix(head, generation, offset);
    int bytes = new ObjectChecksum(region).validBytes(place, geometry.room(place), mix);
    if (bytes == 0) {
      return what + " is not whole: " + file + ", byte " + place;
    }
    return durably && !disk.settled(file, place, bytes)
        ? what + " is not durable: " + file + ", byte " + place
        : null;
  }

  private final class Watched extends ForwardingDirectory {
    Watched(MemoryDirectory directory) {
      super(directory);
    }

    @Override
    protected PersistentMemory wrap(String name, PersistentMemory memory) {
      if (!name.startsWith(StoreFiles.TABLE_PREFIX)) {
        return memory;
      }
      durably = memory.survives() == Survives.POWER_FAILURE;
      pendingFirst = announces || memory.visibleBeforeDurable();
      return new WatchedTable(name, memory);
    }
  }

  private final class WatchedTable extends ForwardingMemory {
    private final String name;

    WatchedTable(String name, PersistentMemory memory) {
      super(memory);
      this.name = name;
    }

    @Override
    public void putLongRelease(long offset, long value) {
      check(name, segment(), offset, value);
      super.putLongRelease(offset, value);
    }

    @Override
    public boolean compareAndSetLong(long offset, long expected, long value) {
      if (segment().get(WORD, offset) == expected) {
        check(name, segment(), offset, value);
      }
      return super.compareAndSetLong(offset, expected, value);
    }
  }
}
