package io.erda.server.engine;

import io.erda.cleaner.LiveBytes;
import io.erda.hashtable.DamagedTableException;
import io.erda.hashtable.Entry;
import io.erda.hashtable.HashTable;
import io.erda.hashtable.KeyHash;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.DamagedLogException;
import io.erda.logstore.LogStore;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import io.erda.pmem.Backing;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.OutOfSpaceException;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import io.erda.protocol.Protocol;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.random.RandomGenerator;

/**
 * The store: superblock, root, table and log of one directory, opened, recovered and ready to
 * publish. One thread. Owns what it opens in the directory, borrows the directory.
 */
public final class StoreEngine implements AutoCloseable {
  private static final String SUPERBLOCK_NEW = "superblock.new";

  /**
   * What an interrupted creation may have left. Regions are not among it: with them, a store has
   * lost its superblock.
   */
  private static final Set<String> UNFINISHED =
      Set.of(SUPERBLOCK_NEW, RootFile.NAME, "regions", "table-1");

  private final MemoryDirectory directory;
  private final StopRecord.Verdict stopped;
  private final boolean looking;
  private final Superblock superblock;
  private final RootFile root;
  private final Tables tables;
  private final TableGrowth growth;
  private final LogStore log;
  private final KeyHash hash;
  private final Publication publication;
  private final TableEntries entries;
  private final LiveBytes live;
  private final Promise promise;
  private final List<String> openingNotes;
  private RecoveryReport recovery;
  private boolean undecided;
  private boolean abandoned;
  private boolean closed;

  private StoreEngine(
      MemoryDirectory directory,
      StopRecord.Verdict stopped,
      boolean looking,
      Superblock superblock,
      RootFile root,
      Tables tables,
      LogStore log,
      List<String> openingNotes) {
    this.openingNotes = openingNotes;
    this.directory = directory;
    this.stopped = stopped;
    this.looking = looking;
    this.superblock = superblock;
    this.root = root;
    this.tables = tables;
    this.growth = new TableGrowth(directory, root, tables, superblock);
    this.log = log;
    this.hash = new KeyHash(superblock.hashSeed());
    PersistentMemory tableMemory = tables.current().memory();
    this.promise =
        tableMemory.survives() == Survives.POWER_FAILURE ? Promise.POWER : Promise.PROCESS;
    this.publication =
        new Publication(this, tables, growth, log, tableMemory.visibleBeforeDurable());
    this.entries = new TableEntries(this, tables);
    this.live = new LiveBytes(log, entries);
  }

  /** {@link #open(MemoryDirectory, StoreOptions, Promise, RandomGenerator)} without a wish. */
  public static StoreEngine open(
      MemoryDirectory directory, StoreOptions create, RandomGenerator random) {
    return open(directory, create, null, random);
  }

  /**
   * Opens the store of a directory, or creates it there when the directory is empty. The caller
   * holds the directory's lock.
   *
   * @param create how to create it; ignored for one that exists; null: it must exist
   * @param wanted what puts must survive from now on; null: what the store has promised so far, or
   *     what the directory has at no cost where that is more
   * @throws ErdaException.Unusable when the directory is not a store of this version
   * @throws ErdaException.Damaged when its structures are not what was written, or, where the store
   *     was stopped cleanly, not what they were then
   * @throws ErdaException.Full when there is no room to create it
   */
  public static StoreEngine open(
      MemoryDirectory directory, StoreOptions create, Promise wanted, RandomGenerator random) {
    return open(directory, create, wanted, random, false);
  }

  /**
   * Opens a store to look at it: also one whose tables are not what they were when it was stopped.
   * {@link #stopped()} says so. REQUIRES: nothing that is stored in the directory lasts.
   */
  public static StoreEngine look(MemoryDirectory directory, RandomGenerator random) {
    return open(directory, null, null, random, true);
  }

  private static StoreEngine open(
      MemoryDirectory directory,
      StoreOptions create,
      Promise wanted,
      RandomGenerator random,
      boolean looking) {
    try {
      if (!directory.exists(Superblock.NAME)) {
        requireEmpty(directory);
        if (create == null) {
          throw new ErdaException.Unusable("there is no store in this directory");
        }
        create(directory, create, StorePromise.ofNewStore(directory, wanted), random);
      }
      List<String> notes = StorePromise.keep(directory, wanted);
      return openExisting(directory, notes, looking);
    } catch (OutOfSpaceException e) {
      throw new ErdaException.Full(ErdaException.Full.What.DISK, e.getMessage());
    } catch (NoSuchFileException e) {
      throw new ErdaException.Damaged("a file of the store is missing: " + e.getMessage());
    } catch (DamagedTableException | DamagedLogException e) {
      throw new ErdaException.Damaged(e.getMessage());
    } catch (IOException e) {
      throw new ErdaException.Unusable("the store can't be opened: " + e.getMessage(), e);
    }
  }

  private static void requireEmpty(MemoryDirectory directory) throws IOException {
    for (String name : directory.names()) {
      if (!UNFINISHED.contains(name)) {
        throw new ErdaException.Unusable(
            "this directory is neither a store nor empty: it holds "
                + name
                + " and no "
                + Superblock.NAME);
      }
    }
  }

  /**
   * The superblock gets its name last: without it, what lies there is the rest of a creation that
   * was interrupted.
   */
  private static void create(
      MemoryDirectory directory, StoreOptions options, Promise promise, RandomGenerator random)
      throws IOException {
    for (String name : directory.names()) {
      if (UNFINISHED.contains(name)) {
        directory.delete(name);
      }
    }
    Superblock superblock =
        new Superblock(
            1,
            new UUID(random.nextLong(), random.nextLong() | 1),
            options.geometry(),
            1,
            options.buckets(),
            random.nextLong(),
            false,
            promise);
    LogStore.create(directory, options.geometry(), superblock.store()).close();
    try (PersistentMemory rootMemory = directory.create(RootFile.NAME, RootFile.BYTES)) {
      new RootFile(rootMemory).nextEpoch();
    }
    try (PersistentMemory tableMemory =
        directory.create(
            Superblock.tableName(superblock.tableGeneration()),
            HashTable.bytesFor(superblock.buckets()))) {
      HashTable.create(tableMemory, superblock.buckets(), new NoMoves());
    }
    try (PersistentMemory memory = directory.create(SUPERBLOCK_NEW, Superblock.BYTES)) {
      superblock.store(memory);
    }
    directory.sync();
    directory.rename(SUPERBLOCK_NEW, Superblock.NAME);
    directory.sync();
  }

  /** What is stored from now on relies on everything that is there: it is durable by now. */
  private static StoreEngine openExisting(
      MemoryDirectory directory, List<String> notes, boolean looking) throws IOException {
    Superblock superblock;
    try (PersistentMemory memory = directory.open(Superblock.NAME)) {
      superblock = Superblock.load(memory);
    }
    PersistentMemory rootMemory = directory.open(RootFile.NAME);
    if (rootMemory.segment().byteSize() < RootFile.BYTES) {
      throw new ErdaException.Damaged(
          "root is " + rootMemory.segment().byteSize() + " bytes long, not " + RootFile.BYTES);
    }
    RootFile root = new RootFile(rootMemory);
    StopRecord.Verdict stopped = checkStopRecord(directory, superblock, root, looking);
    superblock = removeOldTables(directory, superblock);
    Tables.Generation current =
        table(directory, superblock.tableGeneration(), superblock.buckets(), root);
    Tables.Generation next =
        superblock.doubling()
            ? table(directory, superblock.tableGeneration() + 1, 2 * superblock.buckets(), root)
            : null;
    Tables tables = new Tables(current, next);
    LogStore log = LogStore.open(directory, superblock.geometry(), superblock.store());
    StoreEngine engine =
        new StoreEngine(directory, stopped, looking, superblock, root, tables, log, notes);
    engine.recover();
    return engine;
  }

  /** Before anything is stored. What differs is never served: a key may be lost, or old. */
  private static StopRecord.Verdict checkStopRecord(
      MemoryDirectory directory, Superblock superblock, RootFile root, boolean looking)
      throws IOException {
    StopRecord.Verdict stopped = StopRecord.check(directory, superblock, root.incarnation());
    if (stopped.state() == StopRecord.State.DIFFERS) {
      if (looking) {
        return stopped;
      }
      throw new ErdaException.Damaged(
          "the store was stopped cleanly and is not what it was then: "
              + stopped.words().getFirst()
              + (stopped.words().size() > 1 ? ", and more" : "")
              + ". Puts may be lost: see what 'erda verify' finds, or bring a backup back. Without"
              + " the file '"
              + StopRecord.NAME
              + "' what is there is opened as it is");
    }
    StopRecord.remove(directory);
    return stopped;
  }

  private static Tables.Generation table(
      MemoryDirectory directory, int generation, long buckets, RootFile root) throws IOException {
    String name = Superblock.tableName(generation);
    PersistentMemory memory = directory.open(name);
    HashTable table;
    try {
      table = HashTable.open(memory, root);
    } catch (DamagedTableException e) {
      throw new ErdaException.Damaged(name + ": " + e.getMessage());
    }
    if (table.buckets() != buckets) {
      throw new ErdaException.Damaged(
          name + " has " + table.buckets() + " buckets, the superblock says " + buckets);
    }
    return new Tables.Generation(generation, memory, table);
  }

  /**
   * Removes tables that the superblock does not name: one that was being created, or one that was
   * replaced. Both copies of the superblock must say so before: the older one may name them.
   * Neither holds an entry that is not elsewhere, so one that does means a superblock that is not
   * this store's newest.
   */
  private static Superblock removeOldTables(MemoryDirectory directory, Superblock superblock)
      throws IOException {
    Superblock stored = superblock;
    for (String name : directory.names()) {
      if (name.matches("table-[0-9]+") && !names(superblock, name)) {
        requireNoEntries(directory, name);
        if (stored == superblock) {
          try (PersistentMemory memory = directory.open(Superblock.NAME)) {
            superblock.again().store(memory);
          }
          stored = superblock.again().stored();
        }
        directory.delete(name);
      }
    }
    return stored;
  }

  private static void requireNoEntries(MemoryDirectory directory, String table) throws IOException {
    try (PersistentMemory memory = directory.open(table)) {
      if (HashTable.holdsEntries(memory.segment())) {
        throw new ErdaException.Damaged(
            table + " holds entries, and " + Superblock.NAME + " does not name it");
      }
    } catch (FileSystemException e) {
      // Too short to be opened: a kill while it was made.
    }
  }

  private static boolean names(Superblock superblock, String table) {
    return table.equals(Superblock.tableName(superblock.tableGeneration()))
        || (superblock.doubling()
            && table.equals(Superblock.tableName(superblock.tableGeneration() + 1)));
  }

  /**
   * Looks between the water marks: a valid object is committed where its key's word names exactly
   * this place and is pending. Then closes the marks, so that what a dead or stopped writer may
   * still store lands where nothing is handed out any more. May be interrupted and repeated at
   * every step.
   *
   * <p>Readers of an earlier incarnation may read on meanwhile, so what they see of this must be as
   * lasting as it was while that server lived: a word is durable, at least as pending, before it is
   * committed.
   */
  private void recover() {
    RecoveryEvent event = Events.begin(RecoveryEvent::new);
    int[] counts = new int[2];
    long scanned =
        log.scan((region, offset, place, bytes) -> {
          counts[0]++;
          if (commitIfPending(region, offset, place, bytes)) {
            counts[1]++;
          }
        });
    // What is served from now on, and what the marks leave behind, must not fall back to pending at
    // a later power failure.
    tables.drain();
    log.closeMarks();
    List<String> notes = new ArrayList<>(openingNotes);
    if (stopped.state() == StopRecord.State.USELESS) {
      notes.add(stopped.words().getFirst() + "; the store is opened as one that was killed");
    }
    if (counts[1] > 0) {
      notes.add("committed " + counts[1] + " whole versions whose acknowledgement was not sent");
    }
    notes.addAll(log.notes());
    if (tables.doubling() != null) {
      notes.add("the table is being doubled to " + tables.buckets() + " buckets");
    }
    if (log.interrupted() != null) {
      Region victim = log.interrupted().victim();
      notes.add(
          "the cleaning of region " + victim.index() + " of head " + victim.head() + " goes on");
    }
    recovery =
        new RecoveryReport(
            scanned,
            counts[0],
            counts[1],
            log.interrupted() != null,
            tables.doubling() != null,
            notes);
    record(event);
  }

  private void record(RecoveryEvent event) {
    if (Events.wanted(event)) {
      event.bytesScanned = recovery.bytesScanned();
      event.objects = recovery.objectsSeen();
      event.committed = recovery.committed();
      event.cleaning = recovery.cleaning();
      event.doubling = recovery.doubling();
      event.commit();
    }
  }

  /**
   * Lengths are bounded by what the scan found whole: a writer that was stopped may still store
   * into these bytes.
   */
  private boolean commitIfPending(Region region, int offset, long place, int bytes) {
    MemorySegment memory = region.memory().segment();
    int keyLength = ObjectLayout.keyLength(memory, place);
    if (keyLength == 0 || ObjectLayout.bytes(keyLength, 0) > bytes) {
      return false;
    }
    long keyWord = keyWord(memory, place + ObjectLayout.KEY_OFFSET, keyLength);
    if (headOf(keyWord) != region.head()) {
      return false;
    }
    long entry =
        tables.find(
            keyWord, (at, word) -> VersionWord.pending(word) && VersionWord.newest(word) == offset);
    if (entry == Tables.NONE) {
      return false;
    }
    long word = tables.versionWord(entry);
    region.memory().flush(place, bytes);
    region.memory().drain();
    return tables.storeWord(entry, keyWord, word, VersionWord.commit(word));
  }

  /** The key word of {@code length} key bytes. */
  public long keyWord(MemorySegment memory, long at, int length) {
    return Entry.keyWord(hash.of(memory, at, length), superblock.geometry().heads());
  }

  int headOf(long keyWord) {
    return Entry.headOf(keyWord);
  }

  /** Whether words of the batch in hand are stored pending and not yet committed. */
  boolean undecided() {
    return undecided;
  }

  void setUndecided(boolean undecided) {
    this.undecided = undecided;
  }

  int keyBytesMax() {
    return Math.min(Protocol.KEY_BYTES_MAX, log.geometry().objectBytesMax() / 2);
  }

  int valueBytesMax() {
    return Math.min(
        ObjectLayout.VALUE_BYTES_MAX,
        log.geometry().objectBytesMax() - ObjectLayout.HEADER_BYTES - 1);
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
    long entry = publication.find(keyWord, memory, keyAt, keyLength);
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
    Region region = log.region(head, offset);
    if (region == null) {
      return false;
    }
    long place = log.geometry().place(offset);
    return region
        .checksum()
        .valid(
            place,
            log.geometry().room(place),
            ObjectChecksum.positionMix(head, region.generation(), offset));
  }

  /**
   * Deletes a key without space in the log: its entry is emptied. For when the log is full.
   *
   * @return whether it had a value
   */
  boolean erase(MemorySegment memory, long keyAt, int keyLength) {
    long keyWord = keyWord(memory, keyAt, keyLength);
    long entry = publication.find(keyWord, memory, keyAt, keyLength);
    if (entry == Tables.NONE) {
      return false;
    }
    if (VersionWord.pending(tables.versionWord(entry))) {
      // Of no live reservation: what is in hand was committed before this came.
      tables.rollback(entry, keyWord, tables.versionWord(entry));
      tables.drain();
    }
    long word = tables.versionWord(entry);
    int committed = word == 0 ? VersionWord.NONE : VersionWord.committed(word);
    boolean existed = publication.existed(headOf(keyWord), committed);
    if (existed && !tables.remove(entry, keyWord, word)) {
      throw new IllegalStateException(
          "entry " + entry + " can't be removed: " + VersionWord.toString(word));
    }
    if (existed) {
      live.replaced(entry, headOf(keyWord), committed, VersionWord.NONE);
    }
    return existed;
  }

  /** A server begins to serve what was opened: what readers knew of the one before ends here. */
  void beginIncarnation() {
    root.beginIncarnation();
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

  Publication publication() {
    return publication;
  }

  /** The files that are in use now. */
  List<Backing> files() {
    List<Backing> files = new ArrayList<>();
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

  private static final class NoMoves implements io.erda.hashtable.StructureCounter {
    @Override
    public void beginMove() {
      throw new IllegalStateException("nothing moves in a new table");
    }

    @Override
    public void endMove() {
      throw new IllegalStateException("nothing moves in a new table");
    }
  }
}
