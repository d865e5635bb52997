package io.erda.server.engine.store;

import io.erda.hashtable.Entry;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogStore;
import io.erda.pmem.Backing;
import io.erda.pmem.FailedFileSystemException;
import io.erda.pmem.FileErrors;
import io.erda.pmem.Leftovers;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.Survives;
import io.erda.protocol.Promise;
import io.erda.protocol.Protocol;
import io.erda.protocol.PutMode;
import io.erda.protocol.WelcomeBuilder;
import io.erda.server.engine.files.RootFile;
import io.erda.server.engine.files.StopRecord;
import io.erda.server.engine.files.SuperblockFile;
import io.erda.server.engine.files.UnwrittenMark;
import io.erda.server.engine.tables.KeyWords;
import io.erda.server.engine.tables.PendingWords;
import io.erda.server.engine.tables.StoredObjects;
import io.erda.server.engine.tables.Tables;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * The files of one open, recovered store (superblock, root, table, log), with searches for keys and
 * checks of objects. A {@link StoreWriter} changes keys and values, and a {@code ServerCore} serves
 * clients. One thread. Owns the files that it opens, borrows the directory.
 */
public final class StoreEngine implements AutoCloseable {
  private final MemoryDirectory directory;
  private final Leftovers leftovers;
  private final StopRecord.Verdict stopped;
  private final SuperblockFile superblock;
  private final RootFile root;
  private final Tables tables;
  private final PendingWords pending;
  private final LogStore log;
  private final KeyWords keyWords;
  private final StoredObjects objects;
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
    this.keyWords = parts.keyWords();
    this.objects = new StoredObjects(log);
    this.promise = promise(putMode(), tables.current().memory().survives());
    this.recovery = recovery;
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

  public int keyBytesMax() {
    return log.geometry().keyBytesMax(Protocol.KEY_BYTES_MAX);
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
    long entry = find(keyWord, memory, keyAt, keyLength);
    if (entry == Tables.NONE) {
      return Resolution.SOUND;
    }
    int offset = VersionWord.committed(tables.versionWord(entry));
    return offset == VersionWord.NONE || objects.valid(Entry.headOf(keyWord), offset)
        ? Resolution.SOUND
        : Resolution.DAMAGED;
  }

  /** The entry of the key that lies in {@code memory}, or {@link Tables#NONE}. */
  public long find(long keyWord, MemorySegment memory, long keyAt, int keyLength) {
    return tables.find(keyWord, objects.withKey(keyWord, memory, keyAt, keyLength));
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
    return superblock.now().store();
  }

  /** The seed with which keys are hashed. */
  public long hashSeed() {
    return superblock.now().hashSeed();
  }

  /** Begins the welcome of a client with what it has to know of the store. */
  public WelcomeBuilder welcome() {
    return new WelcomeBuilder()
        .store(storeId())
        .incarnation(root.incarnation())
        .hashSeed(hashSeed())
        .regionBytes(log.geometry().regionBytes())
        .segmentBytes(log.geometry().segmentBytes())
        .heads(log.geometry().heads())
        .promise(promise)
        .putMode(putMode().code())
        .keyBytesMax(keyBytesMax())
        .valueBytesMax(log.geometry().valueBytesMax());
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

  /** The table, with the newest version of each key. */
  public Tables tables() {
    return tables;
  }

  public LogStore log() {
    return log;
  }

  /** Returns the object that knows which pending words will still be decided by a put. */
  public PendingWords pending() {
    return pending;
  }

  /** The store's put mode. */
  public PutMode putMode() {
    return superblock.now().putMode();
  }

  /** The objects that entries name. */
  public StoredObjects objects() {
    return objects;
  }

  /** The files in use now. */
  List<Backing> files() {
    List<Backing> files = new ArrayList<>();
    files.add(superblock.memory().backing());
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
   * This is for a store whose device did not take bytes, which the next opening has to know.
   */
  public void becomeFailed() {
    if (!failed) {
      failed = true;
      UnwrittenMark.leave(superblock.memory());
    }
  }

  /** Whether bytes that were stored may be lost, because the device did not take them. */
  public boolean isFailed() {
    return failed;
  }

  /**
   * Makes {@link #close} write no record of a clean stop. This is for a store some of whose files
   * have lost their names, because the record would apply to the files that have these names now.
   */
  public void leaveNoRecord() {
    recorded = false;
  }

  /** Whether {@link #close} stores nothing. */
  public boolean isAbandoned() {
    return abandoned;
  }

  public boolean closed() {
    return closed;
  }

  MemoryDirectory directory() {
    return directory;
  }

  SuperblockFile superblock() {
    return superblock;
  }

  KeyWords keyWords() {
    return keyWords;
  }

  /** Makes everything durable and releases the memories. Idempotent. */
  @Override
  public void close() {
    close(() -> {});
  }

  /**
   * Closes the store as {@link #close()} does, after a last change of the memory.
   *
   * @param settling makes that change; it is not called when the store was abandoned or has failed
   */
  void close(Runnable settling) {
    if (closed) {
      return;
    }
    closed = true;
    boolean durable = false;
    try {
      if (!abandoned && !failed) {
        settling.run();
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
        superblock.close();
        tables.close();
        root.memory().close();
      }
    }
  }

  /**
   * Writes the record of a clean stop. Without it the store is opened as after a kill, and nothing
   * is lost, unless the file system failed as a whole: it may have dropped pages that it had not
   * written yet.
   *
   * @throws UncheckedIOException when the file system has failed
   */
  private void recordStop() {
    try {
      StopRecord.write(directory, superblock.now(), root.incarnation());
    } catch (IOException e) {
      if (FailedFileSystemException.isReasonOf(e)) {
        throw new UncheckedIOException(
            "the file system failed, and may have lost what was put last", e);
      }
      // The disk is full, or the process may open no more files.
      leftovers.undone(
          FileErrors.inWords(e)
              + ": the record of this stop could not be written, so that the next start recovers as"
              + " after a kill");
    }
  }
}
