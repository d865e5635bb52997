package io.erda.server.engine.store;

import io.erda.cleaner.LiveBytes;
import io.erda.hashtable.Entry;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogStore;
import io.erda.pmem.Backing;
import io.erda.pmem.FileErrors;
import io.erda.pmem.Leftovers;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.Survives;
import io.erda.protocol.Promise;
import io.erda.protocol.Protocol;
import io.erda.protocol.PutMode;
import io.erda.server.engine.files.RootFile;
import io.erda.server.engine.files.StopRecord;
import io.erda.server.engine.files.Superblock;
import io.erda.server.engine.publishing.AnnouncedWords;
import io.erda.server.engine.publishing.Publication;
import io.erda.server.engine.tables.Decisions;
import io.erda.server.engine.tables.EntrySearch;
import io.erda.server.engine.tables.Insertion;
import io.erda.server.engine.tables.KeyWords;
import io.erda.server.engine.tables.PendingWords;
import io.erda.server.engine.tables.PutCounts;
import io.erda.server.engine.tables.StoredObjects;
import io.erda.server.engine.tables.TableEntries;
import io.erda.server.engine.tables.TableGrowth;
import io.erda.server.engine.tables.Tables;
import io.erda.server.engine.tables.TombstoneSweep;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * An open store: superblock, root, table and log of one directory, recovered and ready to publish.
 * One thread. Owns the files that it opens, borrows the directory.
 */
public final class StoreEngine implements AutoCloseable {
  private final MemoryDirectory directory;
  private final Leftovers leftovers;
  private final StopRecord.Verdict stopped;
  private final Superblock superblock;
  private final RootFile root;
  private final Tables tables;
  private final PendingWords pending;

  /** The words of announced puts; null in a store whose puts publish last. */
  private final AnnouncedWords announced;

  private final Decisions decisions;
  private final Insertion insertion;
  private final PutCounts puts = new PutCounts();
  private final TableGrowth growth;
  private final LogStore log;
  private final KeyWords keyWords;
  private final StoredObjects objects;
  private final EntrySearch search;
  private final Publication publication;
  private final TableEntries entries;
  private final LiveBytes live;
  private final Promise promise;
  private final RecoveryReport recovery;

  /** Whether closing leaves a record of a clean stop. */
  private boolean recorded;

  private boolean abandoned;
  private boolean failed;
  private boolean closed;

  /**
   * Makes the engine of a recovered store. Owns the memories of its parts, borrows the directory.
   */
  StoreEngine(
      StoreParts parts, StopRecord.Verdict stopped, boolean looking, RecoveryReport recovery) {
    this.directory = parts.directory();
    this.leftovers = parts.leftovers();
    this.stopped = stopped;
    this.recorded = !looking;
    this.superblock = parts.superblock();
    this.root = parts.root();
    this.tables = parts.tables();
    this.pending = parts.pending();
    this.log = parts.log();
    this.objects = new StoredObjects(log);
    this.announced =
        superblock.putMode() == PutMode.ANNOUNCE
            ? new AnnouncedWords(tables, root, log, parts.keyWords(), objects, puts)
            : null;
    this.decisions = announced == null ? pending : announced;
    this.growth =
        new TableGrowth(
            directory,
            root,
            tables,
            decisions,
            new TombstoneSweep(tables, objects, puts),
            parts.leftovers(),
            superblock,
            parts.superblockMemory());
    this.insertion = new Insertion(tables, growth, objects);
    this.keyWords = parts.keyWords();
    this.recovery = recovery;
    this.promise = promise(superblock.putMode(), tables.current().memory().survives());
    this.search = new EntrySearch(tables, log);
    this.entries = new TableEntries(tables, decisions, keyWords);
    this.live = new LiveBytes(log, entries);
    this.publication =
        new Publication(
            tables, insertion, log, pending, keyWords, search, objects, live, puts, keyBytesMax());
    if (announced != null) {
      announced.count(live);
    }
  }

  private static Promise promise(PutMode mode, Survives survives) {
    if (mode.promiseMax() == Promise.ATOMIC) {
      return Promise.ATOMIC;
    }
    return survives == Survives.POWER_FAILURE ? Promise.POWER : Promise.PROCESS;
  }

  /** The key word of {@code length} key bytes. */
  public long keyWord(MemorySegment memory, long at, int length) {
    return keyWords.of(memory, at, length);
  }

  public int headOf(long keyWord) {
    return Entry.headOf(keyWord);
  }

  public int keyBytesMax() {
    return log.geometry().keyBytesMax(Protocol.KEY_BYTES_MAX);
  }

  public int valueBytesMax() {
    return log.geometry().valueBytesMax();
  }

  /** The state of a key's entry. */
  public enum Resolution {
    SOUND,
    DAMAGED
  }

  /**
   * Checks a key's entry for a reader that found an invalid object, because only the server decides
   * that an object is damaged.
   */
  public Resolution resolve(MemorySegment memory, long keyAt, int keyLength) {
    long keyWord = keyWord(memory, keyAt, keyLength);
    long entry = search.find(keyWord, memory, keyAt, keyLength);
    if (entry == Tables.NONE) {
      return Resolution.SOUND;
    }
    int offset = VersionWord.committed(tables.versionWord(entry));
    return offset == VersionWord.NONE || objectValid(headOf(keyWord), offset)
        ? Resolution.SOUND
        : Resolution.DAMAGED;
  }

  /** Whether a whole object that was written for this position lies at the offset. */
  public boolean objectValid(int head, int offset) {
    return objects.valid(head, offset);
  }

  /** The entry of the key that lies in {@code memory}, or {@link Tables#NONE}. */
  public long find(long keyWord, MemorySegment memory, long keyAt, int keyLength) {
    return search.find(keyWord, memory, keyAt, keyLength);
  }

  /**
   * The entry of the key that lies in {@code memory}, or {@link Tables#NONE}. The entry's word is
   * decided on return; it is pending only when a put will still decide it.
   */
  public long findDecided(long keyWord, MemorySegment memory, long keyAt, int keyLength) {
    while (true) {
      long entry = search.find(keyWord, memory, keyAt, keyLength);
      if (entry == Tables.NONE) {
        return Tables.NONE;
      }
      long word = tables.versionWord(entry);
      if (!VersionWord.pending(word)
          || VersionWord.pending(decisions.decide(entry, keyWord, word))) {
        return entry;
      }
      // The entry may now be free or belong to another key.
      tables.drain();
    }
  }

  /** How the erasure of a key ended. */
  public enum Erasure {
    /** The key had a value, and has none now. */
    ERASED,
    /** The key had no value. */
    ABSENT,
    /** Nothing was done, because a put of this key is undecided. */
    NOT_NOW
  }

  /**
   * Deletes a key without taking space in the log, by emptying its entry. Used when the log is
   * full.
   */
  public Erasure erase(MemorySegment memory, long keyAt, int keyLength) {
    long keyWord = keyWord(memory, keyAt, keyLength);
    long entry = findDecided(keyWord, memory, keyAt, keyLength);
    if (entry == Tables.NONE) {
      return Erasure.ABSENT;
    }
    long word = tables.versionWord(entry);
    if (VersionWord.pending(word)) {
      return Erasure.NOT_NOW;
    }
    int committed = VersionWord.committed(word);
    if (!objects.isValue(headOf(keyWord), committed)) {
      return Erasure.ABSENT;
    }
    if (!tables.remove(entry, keyWord, word)) {
      throw new IllegalStateException(
          "entry " + entry + " can't be removed: " + VersionWord.toString(word));
    }
    live.replaced(entry, headOf(keyWord), committed, VersionWord.NONE);
    return Erasure.ERASED;
  }

  /** Begins a new incarnation. From now on the maps of readers of an earlier server are invalid. */
  public void beginIncarnation() {
    root.beginIncarnation(directory.boot());
  }

  /** Returns the verdict on the record of the last stop, as it was when the store was opened. */
  public StopRecord.Verdict stopped() {
    return stopped;
  }

  public RecoveryReport recovery() {
    return recovery;
  }

  public Promise promise() {
    return promise;
  }

  /**
   * Whether a put waits until a device has written its data. Then {@code Syncs} may wait in other
   * threads.
   */
  public boolean waitsForDevice() {
    return tables.memory().drainWaitsForDevice();
  }

  public UUID storeId() {
    return superblock.store();
  }

  public Superblock superblock() {
    return superblock;
  }

  public RootFile root() {
    return root;
  }

  /**
   * Returns the object that removes files that are no longer needed, and remembers those that could
   * not be removed.
   */
  public Leftovers leftovers() {
    return leftovers;
  }

  /** Number of unneeded files that could not be removed. */
  public int filesLeft() {
    return leftovers.count();
  }

  /** The table, with the newest version of each key. */
  public Tables tables() {
    return tables;
  }

  /**
   * Returns the object that doubles the table when it gets full, and halves it when it is far too
   * large. It works in steps.
   */
  public TableGrowth growth() {
    return growth;
  }

  public LogStore log() {
    return log;
  }

  /** The table, for the cleaner. */
  public TableEntries entries() {
    return entries;
  }

  public LiveBytes live() {
    return live;
  }

  /** Returns the object that knows which pending words will still be decided by a put. */
  public PendingWords pending() {
    return pending;
  }

  /** The announced words, or null in a store whose puts publish last. */
  public AnnouncedWords announced() {
    return announced;
  }

  /** Number of puts that were announced and are neither committed nor rolled back. */
  public long undecidedPuts() {
    return announced == null ? 0 : announced.undecided();
  }

  /** The store's put mode. */
  public PutMode putMode() {
    return superblock.putMode();
  }

  public Insertion insertion() {
    return insertion;
  }

  public StoredObjects objects() {
    return objects;
  }

  /** The puts and deletes that took effect. */
  public PutCounts puts() {
    return puts;
  }

  public Publication publication() {
    return publication;
  }

  /** The files in use now. */
  List<Backing> files() {
    List<Backing> files = new ArrayList<>();
    files.add(growth.superblockMemory().backing());
    files.add(root.memory().backing());
    tables.inUse().forEach(table -> files.add(table.memory().backing()));
    log.memories().forEach(memory -> files.add(memory.backing()));
    return files;
  }

  /** Makes {@link #close} store nothing, so that the next opening recovers as after a kill. */
  public void abandon() {
    abandoned = true;
  }

  /**
   * As {@link #abandon}, but {@link #close} drains the device once more, and throws if that fails.
   */
  void becomeFailed() {
    failed = true;
  }

  /**
   * Makes {@link #close} write no record of a clean stop. This is for a store some of whose files
   * have lost their names, because the record would apply to the files that have these names now.
   */
  public void leaveNoRecord() {
    recorded = false;
  }

  public boolean closed() {
    return closed;
  }

  /** Makes everything durable and releases the memories. Idempotent. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    boolean durable = false;
    try {
      if (!abandoned && !failed) {
        if (announced != null) {
          announced.close();
        }
        publication.settle();
        log.storeLowMarks();
        tables.drain();
        durable = true;
      } else if (!abandoned) {
        tables.drain();
      }
    } finally {
      try {
        log.close(!abandoned && !failed);
        if (durable && recorded) {
          recordStop();
        }
      } finally {
        growth.close();
        tables.close();
        root.memory().close();
      }
    }
  }

  /**
   * Writes the record of a clean stop. Without it the store is opened as after a kill, and nothing
   * is lost.
   */
  private void recordStop() {
    try {
      StopRecord.write(directory, growth.superblock(), root.incarnation());
    } catch (IOException e) {
      // The disk is full or has failed.
      leftovers.undone(
          FileErrors.inWords(e)
              + ": the record of this stop could not be written, so that the next start recovers as"
              + " after a kill");
    }
  }
}
