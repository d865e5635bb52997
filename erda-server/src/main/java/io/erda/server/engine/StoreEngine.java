package io.erda.server.engine;

import io.erda.cleaner.LiveBytes;
import io.erda.hashtable.Entry;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogStore;
import io.erda.pmem.Backing;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.Survives;
import io.erda.protocol.Promise;
import io.erda.protocol.Protocol;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * The store: superblock, root, table and log of one directory, opened, recovered and ready to
 * publish. One thread. Owns what it opens in the directory, borrows the directory.
 */
public final class StoreEngine implements AutoCloseable {
  private final MemoryDirectory directory;
  private final StopRecord.Verdict stopped;
  private final boolean looking;
  private final Superblock superblock;
  private final RootFile root;
  private final Tables tables;
  private final PendingWords pending;
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
  private boolean abandoned;
  private boolean closed;

  /** A store that was recovered. Owns the memories of its parts, borrows the directory. */
  StoreEngine(
      StoreParts parts, StopRecord.Verdict stopped, boolean looking, RecoveryReport recovery) {
    this.directory = parts.directory();
    this.stopped = stopped;
    this.looking = looking;
    this.superblock = parts.superblock();
    this.root = parts.root();
    this.tables = parts.tables();
    this.pending = parts.pending();
    this.growth =
        new TableGrowth(directory, root, tables, pending, superblock, parts.superblockMemory());
    this.log = parts.log();
    this.keyWords = parts.keyWords();
    this.recovery = recovery;
    this.promise =
        tables.current().memory().survives() == Survives.POWER_FAILURE
            ? Promise.POWER
            : Promise.PROCESS;
    this.objects = new StoredObjects(log);
    this.search = new EntrySearch(tables, log);
    this.entries = new TableEntries(tables, pending, keyWords);
    this.live = new LiveBytes(log, entries);
    this.publication =
        new Publication(
            tables, growth, log, pending, keyWords, search, objects, live, keyBytesMax());
  }

  /** The key word of {@code length} key bytes. */
  public long keyWord(MemorySegment memory, long at, int length) {
    return keyWords.of(memory, at, length);
  }

  int headOf(long keyWord) {
    return Entry.headOf(keyWord);
  }

  int keyBytesMax() {
    return log.geometry().keyBytesMax(Protocol.KEY_BYTES_MAX);
  }

  int valueBytesMax() {
    return log.geometry().valueBytesMax();
  }

  /** What a key's entry turned out to be. */
  enum Resolution {
    SOUND,
    DAMAGED
  }

  /**
   * Looks at a key's entry on behalf of a reader that found something invalid: the server alone
   * declares damage.
   */
  Resolution resolve(MemorySegment memory, long keyAt, int keyLength) {
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

  /** Whether a whole object that was written for this position lies there. */
  boolean objectValid(int head, int offset) {
    return objects.valid(head, offset);
  }

  /** The entry of the key that lies in {@code memory}, or {@link Tables#NONE}. */
  long find(long keyWord, MemorySegment memory, long keyAt, int keyLength) {
    return search.find(keyWord, memory, keyAt, keyLength);
  }

  /** What became of a key that was to be erased. */
  enum Erasure {
    /** It had a value, and has none now. */
    ERASED,
    /** It had none. */
    ABSENT,
    /** Nothing was done: a put of this key is not decided yet. */
    NOT_NOW
  }

  /** Deletes a key without space in the log: its entry is emptied. For when the log is full. */
  Erasure erase(MemorySegment memory, long keyAt, int keyLength) {
    long keyWord = keyWord(memory, keyAt, keyLength);
    long entry = search.find(keyWord, memory, keyAt, keyLength);
    if (entry == Tables.NONE) {
      return Erasure.ABSENT;
    }
    long word = tables.versionWord(entry);
    if (pending.isLive(word)) {
      return Erasure.NOT_NOW;
    }
    if (VersionWord.pending(word)) {
      word = pending.rollBack(entry, keyWord, word);
      tables.drain();
    }
    int committed = word == 0 ? VersionWord.NONE : VersionWord.committed(word);
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

  /** A server begins to serve what was opened: what readers knew of the one before ends here. */
  void beginIncarnation() {
    root.beginIncarnation(directory.boot());
  }

  /** What the record of the last stop said when the store was opened. */
  StopRecord.Verdict stopped() {
    return stopped;
  }

  public RecoveryReport recovery() {
    return recovery;
  }

  public Promise promise() {
    return promise;
  }

  public UUID storeId() {
    return superblock.store();
  }

  Superblock superblock() {
    return superblock;
  }

  RootFile root() {
    return root;
  }

  /** Where each key's newest version is. */
  public Tables tables() {
    return tables;
  }

  /** Doubles the table when it gets full: to be stepped. */
  public TableGrowth growth() {
    return growth;
  }

  public LogStore log() {
    return log;
  }

  /** The table, for the cleaner. */
  TableEntries entries() {
    return entries;
  }

  LiveBytes live() {
    return live;
  }

  /** The owner that knows which pending words a put stands behind. */
  PendingWords pending() {
    return pending;
  }

  Publication publication() {
    return publication;
  }

  /** The files that are in use now. */
  List<Backing> files() {
    List<Backing> files = new ArrayList<>();
    files.add(growth.superblockMemory().backing());
    files.add(root.memory().backing());
    tables.inUse().forEach(table -> files.add(table.memory().backing()));
    log.memories().forEach(memory -> files.add(memory.backing()));
    return files;
  }

  /** From now on closing stores nothing: the next opening recovers as after a kill. */
  void abandon() {
    abandoned = true;
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
      if (!abandoned) {
        publication.settle();
        log.storeLowMarks();
        tables.drain();
        durable = true;
      }
    } finally {
      try {
        log.close(!abandoned);
        if (durable && !looking) {
          recordStop();
        }
      } finally {
        growth.close();
        tables.close();
        root.memory().close();
      }
    }
  }

  /** A store without the record is opened as one that was killed: nothing is lost with it. */
  private void recordStop() {
    try {
      StopRecord.write(directory, growth.superblock(), root.incarnation());
    } catch (IOException e) {
      // A full disk, or a failed one.
    }
  }
}
