package io.erda.server.engine.inspection;

import io.erda.hashtable.Entry;
import io.erda.hashtable.KeyHash;
import io.erda.hashtable.KeyHashing;
import io.erda.hashtable.TableFinding;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.CopySpace;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import io.erda.protocol.PutMode;
import io.erda.server.engine.files.StopRecord;
import io.erda.server.engine.files.StoreFiles;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.tables.StoredObjects;
import io.erda.server.engine.tables.Tables;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;
import java.util.function.LongFunction;

/**
 * Checks every entry of an opened store and the objects that it names. Changes nothing. One thread,
 * the engine's.
 *
 * <p>It finds: objects whose checksum is wrong, keys that do not belong to their entry, older
 * versions that are not whole, entries outside their neighbourhood, a key with two entries, half
 * entries, entries of a head that does not exist, places that were never handed out, whole versions
 * that recovery should have committed, an odd structure counter. While the table is resized it
 * checks both tables, and the entries of one against the other. {@link LogInspection} checks the
 * objects without an entry.
 *
 * <p>Every entry counts once: as a value, a deleted key, undecided, or damaged.
 */
public final class StoreInspection {
  private static final int SLOTS_PER_STEP = 1 << 16;

  private final StoreEngine engine;
  private final Findings findings;
  private final KeyHashing hashing;
  private final KeySearch keys;
  private final Unnamed unnamed;

  /** Entries that the check of the table alone found damaged; they are counted as damaged. */
  private final Set<Long> damagedEntries = new HashSet<>();

  private long entries;
  private long values;
  private long tombstones;
  private long undecided;
  private long damaged;

  public StoreInspection(StoreEngine engine, Findings findings) {
    this(engine, findings, KeyHash::new);
  }

  /**
   * Makes an inspection with its own hash.
   *
   * @param hashings the hash of keys by seed
   */
  public StoreInspection(
      StoreEngine engine, Findings findings, LongFunction<? extends KeyHashing> hashings) {
    this.engine = engine;
    this.findings = findings;
    this.hashing = hashings.apply(engine.hashSeed());
    this.keys = new KeySearch(engine);
    this.unnamed = new Unnamed(findings);
  }

  /** Entries in use. */
  public long entries() {
    return entries;
  }

  /** Keys whose newest version is a whole value. */
  public long values() {
    return values;
  }

  /** Deleted keys whose entry is still there. */
  public long tombstones() {
    return tombstones;
  }

  /**
   * Returns the number of entries whose only version was never committed. To readers such a key is
   * absent.
   */
  public long undecided() {
    return undecided;
  }

  /** Returns the number of entries that are damaged, or whose newest version is damaged. */
  public long damaged() {
    return damaged;
  }

  /** Checks every entry. */
  public void run() {
    lookAtEntries((what, done, all) -> {});
    unnamed.tellAll(this::hasTwin);
  }

  /**
   * Compares the store with the record of its last stop, and checks every entry. Then it checks
   * every object of the log, if that may reveal the keys of damaged entries, or objects without an
   * entry.
   */
  public void run(InspectionProgress progress) {
    StopRecord.Verdict stopped = engine.stopped();
    stopped.words().forEach(what -> findings.found(null, what));
    lookAtEntries(progress);
    if (!proven() || !unnamed.isEmpty()) {
      new LogInspection(engine, findings, unnamed, !proven()).run(progress);
    }
    unnamed.tellAll(this::hasTwin);
  }

  /**
   * Whether the store was stopped cleanly and has not changed since. Then no entry is lost or old.
   */
  public boolean proven() {
    return engine.stopped().state() == StopRecord.State.PROVEN;
  }

  private void lookAtEntries(InspectionProgress progress) {
    if ((engine.root().structureCounter() & 1) != 0) {
      findings.found(null, "structure counter is odd: " + engine.root().structureCounter());
    }
    long slots = 0;
    for (Tables.Generation generation : engine.tables().inUse()) {
      check(generation);
      slots += generation.table().slots();
    }
    Tables.Walk walk = engine.tables().walk();
    long looked = 0;
    for (int work = -1; work != 0; looked += work) {
      progress.at("entries", looked, slots);
      work = walk.doWork(SLOTS_PER_STEP, this::inspect);
    }
    assert entries == values + tombstones + undecided + damaged
        : entries + " entries, and another number of each kind together";
  }

  private void check(Tables.Generation generation) {
    boolean old = engine.tables().next() != null && generation == engine.tables().current();
    generation
        .table()
        .check(finding -> {
          if (finding.damage() || (finding instanceof TableFinding.Moved && !old)) {
            String what = StoreFiles.table(generation.number()) + ": " + finding.message();
            switch (finding) {
              case TableFinding.Misplaced it ->
                  entryFound(generation, it.slot(), it.keyWord(), what);
              case TableFinding.NoVersion it ->
                  entryFound(generation, it.slot(), it.keyWord(), what);
              case TableFinding.Moved it -> unnamed.add(it.keyWord(), what);
              case TableFinding.NoKeyWord it -> {
                damagedEntries.add(generation.entry(it.slot()));
                findings.found(null, what);
              }
              default -> findings.found(null, what);
            }
          }
        });
  }

  private void entryFound(Tables.Generation generation, long slot, long keyWord, String what) {
    damagedEntries.add(generation.entry(slot));
    unnamed.add(keyWord, what);
  }

  private void inspect(long entry, long keyWord, long word) {
    entries++;
    boolean foundBefore = damagedEntries.contains(entry);
    if (keyWord == 0 || VersionWord.newest(word) == VersionWord.NONE) {
      damaged++;
      return;
    }
    int head = Entry.headOf(keyWord);
    if (head >= engine.log().geometry().heads()) {
      damaged++;
      unnamed.add(
          keyWord,
          "slot %d: key word %016x is of head %d, and the store has %d heads"
              .formatted(Tables.slot(entry), keyWord, head, engine.log().geometry().heads()));
      return;
    }
    int committed = VersionWord.committed(word);
    // A crash may leave an entry locked that the server changed beside other writers. Readers take
    // the newest version of such an entry, and the next change ends the lock.
    boolean undecidedPut = VersionWord.pending(word) && !VersionWord.isLocked(word);
    if (undecidedPut && engine.putMode() == PutMode.PUBLISH) {
      inspectPending(entry, keyWord, head, VersionWord.newest(word));
    }
    boolean tombstone = false;
    if (committed == VersionWord.NONE) {
      undecided++;
    } else if (!inspectNewest(entry, keyWord, head, committed) || foundBefore) {
      damaged++;
    } else if (isTombstone(head, committed)) {
      tombstone = true;
      tombstones++;
    } else {
      values++;
    }
    int older = VersionWord.older(word);
    if (!tombstone && older != VersionWord.NONE && older != committed) {
      inspectOlder(entry, keyWord, head, older);
    }
  }

  private void inspectOlder(long entry, long keyWord, int head, int older) {
    if (!engine.objects().valid(head, older)) {
      found(
          keys.keyAt(head, older, keyWord),
          keyWord,
          describe(entry, head, older, "older version is damaged"));
    } else if (keyWordAt(head, older) != keyWord) {
      unnamed.add(keyWord, describe(entry, head, older, "older version belongs to another key"));
    }
  }

  /**
   * Checks a pending version. Recovery has committed every whole version between the water marks,
   * and below them every word was committed. So a pending version that is whole was acknowledged,
   * and readers wrongly take the version before it.
   */
  private void inspectPending(long entry, long keyWord, int head, int newest) {
    if (engine.objects().valid(head, newest) && keyWordAt(head, newest) == keyWord) {
      findings.found(
          key(head, newest),
          describe(entry, head, newest, "newest version is whole and marked as not committed"));
    }
  }

  /**
   * Checks the newest version. Returns whether readers find the value or tombstone that was put.
   */
  private boolean inspectNewest(long entry, long keyWord, int head, int offset) {
    Region region = engine.log().region(head, offset);
    if (region == null) {
      unnamed.add(keyWord, describe(entry, head, offset, "no region is linked there"));
      return false;
    }
    if (!engine.objects().valid(head, offset)) {
      found(
          keys.keyAt(head, offset, keyWord),
          keyWord,
          describe(entry, head, offset, "object is damaged"));
      return false;
    }
    long itsKeyWord = keyWordAt(head, offset);
    if (itsKeyWord != keyWord) {
      foundStranger(entry, keyWord, head, offset, itsKeyWord);
      return false;
    }
    requireHandedOut(entry, head, offset, region);
    return requireOnlyEntry(entry, keyWord, key(head, offset));
  }

  /**
   * Reports an entry that leads to an object of another key. When the other key has an entry of its
   * own, the key of this entry is lost. Otherwise this entry belongs to the other key, and its key
   * word is damaged.
   */
  private void foundStranger(long entry, long keyWord, int head, int offset, long itsKeyWord) {
    byte[] itsKey = key(head, offset);
    boolean hasItsOwn = Entry.headOf(itsKeyWord) == head && count(itsKeyWord, itsKey) > 0;
    if (hasItsOwn) {
      unnamed.add(
          keyWord,
          describe(
              entry,
              head,
              offset,
              "entry of key word %016x leads to an object of another key".formatted(keyWord)));
    } else {
      findings.found(
          itsKey,
          describe(
              entry,
              head,
              offset,
              "entry has the key word %016x, its key has %016x".formatted(keyWord, itsKeyWord)));
    }
  }

  /**
   * Reports an object behind the high-water mark of its region, where other objects will be stored.
   */
  private void requireHandedOut(long entry, int head, int offset, Region region) {
    long place = engine.log().geometry().place(offset);
    if (place >= engine.log().linked().highMark(region)) {
      findings.found(
          key(head, offset),
          describe(
              entry,
              head,
              offset,
              "object lies behind the high-water mark of its region, "
                  + engine.log().linked().highMark(region)));
    }
    CopySpace interrupted = engine.log().cleaning().interrupted();
    if (interrupted != null
        && interrupted.region() == region
        && place >= interrupted.next()
        && place < interrupted.end()) {
      findings.found(
          key(head, offset),
          describe(entry, head, offset, "object lies where the interrupted cleaning will copy to"));
    }
  }

  private boolean requireOnlyEntry(long entry, long keyWord, byte[] key) {
    int found = count(keyWord, key);
    if (found > 1) {
      findings.found(key, "key has " + found + " entries, one in slot " + Tables.slot(entry));
    }
    return found == 1;
  }

  /** Counts the entries of a key word whose newest committed object has this key. */
  private int count(long keyWord, byte[] key) {
    int[] found = new int[1];
    MemorySegment view = MemorySegment.ofArray(key);
    engine
        .tables()
        .find(
            keyWord,
            (other, word) -> {
              found[0] += isOf(keyWord, word, view, key.length) ? 1 : 0;
              return false;
            });
    return found[0];
  }

  private boolean isOf(long keyWord, long word, MemorySegment key, int keyLength) {
    int offset = VersionWord.committed(word);
    Region region = engine.log().region(Entry.headOf(keyWord), offset);
    long place = engine.log().geometry().place(offset);
    return region != null
        && ObjectLayout.bytes(keyLength, 0) <= engine.log().geometry().room(place)
        && ObjectLayout.keyEquals(region.memory().segment(), place, key, 0, keyLength);
  }

  /**
   * Reports an entry that leads to no whole object. When another entry has the same key word, the
   * key of that entry is concerned, too: a look-up may find this entry first, and the same fault
   * may have put the other key into the object. Then every key of the log with this key word is
   * reported.
   */
  private void found(byte[] key, long keyWord, String what) {
    if (key != null) {
      findings.found(key, what);
    }
    if (key == null || hasTwin(keyWord)) {
      unnamed.add(keyWord, key, what);
    }
  }

  /** Whether two entries have this key word; the probability is 2^-56 for a pair of keys. */
  private boolean hasTwin(long keyWord) {
    int[] entriesOfIt = new int[1];
    engine
        .tables()
        .find(
            keyWord,
            (entry, word) -> {
              entriesOfIt[0]++;
              return false;
            });
    return entriesOfIt[0] > 1;
  }

  // Reading a whole object.

  private boolean isTombstone(int head, int offset) {
    return ObjectLayout.tombstone(
        engine.log().region(head, offset).memory().segment(),
        engine.log().geometry().place(offset));
  }

  private long keyWordAt(int head, int offset) {
    MemorySegment memory = engine.log().region(head, offset).memory().segment();
    long place = engine.log().geometry().place(offset);
    long hash =
        hashing.of(memory, place + ObjectLayout.KEY_OFFSET, ObjectLayout.keyLength(memory, place));
    return Entry.keyWord(hash, engine.log().geometry().heads());
  }

  private byte[] key(int head, int offset) {
    MemorySegment memory = engine.log().region(head, offset).memory().segment();
    return StoredObjects.key(memory, engine.log().geometry().place(offset));
  }

  private String describe(long entry, int head, int offset, String what) {
    Region region = engine.log().region(head, offset);
    return "%s (slot %d, head %d, region %s, byte %d)"
        .formatted(
            what,
            Tables.slot(entry),
            head,
            region == null ? "none" : region.slot() + " generation " + region.generation(),
            engine.log().geometry().place(offset));
  }
}
