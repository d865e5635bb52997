package io.erda.server.engine;

import io.erda.hashtable.Doubling;
import io.erda.hashtable.HashTable;
import io.erda.hashtable.VersionWord;
import io.erda.pmem.Creation;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;

/**
 * Doubles the table when it gets full, in steps that take some tenths of a millisecond, while
 * everything else goes on (design, "Doubling"). One thread, the engine's.
 *
 * <pre>
 *   1  the file of twice the buckets is created and formatted, durably; nobody knows it
 *   2  superblock: a doubling is on                     from now on an opening opens both
 *   3  registered; epoch + 1                            from now on insertions go to the new table
 *   4  entries are moved, stretch by stretch            see {@link Doubling}
 *   5  superblock: the new table is the table
 *   6  epoch + 1; the old file is unlinked
 *   7  after a grace: deregistered, its pages given back, unmapped
 * </pre>
 *
 * A crash before 2 leaves a file that no superblock names: the next opening removes it, as it does
 * with the old one after a crash between 5 and 6. Between 2 and 5 the opening repairs the stretch
 * under way, and moving begins at slot 0 again, passing over what is MOVED.
 *
 * <p>Where there is no room for the file, or at the largest size that is allowed, the doubling is
 * put off: what does not fit is refused as full, all else goes on, and it is tried again.
 */
public final class TableGrowth {
  private static final long UNKNOWN = Long.MIN_VALUE;

  /**
   * A doubling begins above a load of 1/2: {@code hashtable/FORMAT.md}, "How full". The rest is
   * room for what is inserted while the new file is made.
   */
  private static final int SLOTS_PER_ENTRY = 2;

  /**
   * An insertion that fails at less than this load meets more equal keys than chance gives:
   * doubling would not help.
   */
  private static final int SLOTS_PER_ENTRY_MAX = 8;

  /** Stretches moved at once for an insertion that had to wait for the new table. */
  private static final int STRETCHES_AT_ONCE = 64;

  /**
   * Steps of the new file's creation that insertions without room may take between two steps of the
   * server: a file of many GiB must not keep everybody else waiting. Most tables take fewer.
   */
  static final int CREATION_STEPS_AT_ONCE = 64;

  private static final long RETRY_NS = 1_000_000_000L;
  private static final long STUCK_NS_MIN = RETRY_NS / 1000;

  /** Bytes of a table that is gone which one step gives back. */
  private static final long DISCARD_BYTES = 1 << 20;

  /** Told which tables can be read. */
  interface Listener {
    void opened(Tables.Generation generation);

    void retired(Tables.Generation generation);
  }

  private record Retired(Tables.Generation generation, long sinceNs) {}

  private final MemoryDirectory directory;
  private final RootFile root;
  private final Tables tables;
  private final Decisions decisions;

  /**
   * The superblock's file. Mapped as long as the store is open: to open a file may fail for a
   * moment, with too many others open, and there is no way back from the middle of a doubling.
   */
  private final PersistentMemory superblockMemory;

  private final ArrayDeque<Retired> retired = new ArrayDeque<>();

  private Superblock superblock;
  private TableGrowthOptions options = TableGrowthOptions.DEFAULT;
  private Listener listener =
      new Listener() {
        @Override
        public void opened(Tables.Generation generation) {}

        @Override
        public void retired(Tables.Generation generation) {}
      };

  /** Makes the new table's file; null when none is being made. */
  private Creation creation;

  /** Steps that insertions took since {@link #doWork}. */
  private int creationSteps;

  private long nowNs;

  /** There was no room when it was tried last; tried again at {@link #retryNs}. */
  private boolean putOff;

  private long retryNs;

  /**
   * How long a doubling that is stuck waits: longer each time, damaged entries never get better.
   */
  private long stuckNs = STUCK_NS_MIN;

  /** Whether this pass over the old table left an entry because its word is live. */
  private boolean metLive;

  /** Whether the last pass did, and moved nothing. */
  private boolean stuckAtLive;

  /** The flight recorder's event of the doubling that is under way. */
  private DoublingEvent event;

  /** When it began, or {@link #UNKNOWN} where that was before the store was opened. */
  private long doublingBegunNs;

  private ToldService told = new ToldService();

  private long discarded = -1;
  private long doublings;
  private long timesPutOff;

  /**
   * @param superblockMemory where {@code superblock} is stored; owned from here on
   */
  TableGrowth(
      MemoryDirectory directory,
      RootFile root,
      Tables tables,
      Decisions decisions,
      Superblock superblock,
      PersistentMemory superblockMemory) {
    this.superblockMemory = superblockMemory;
    this.directory = directory;
    this.root = root;
    this.tables = tables;
    this.decisions = decisions;
    this.superblock = superblock;
    if (tables.doubling() != null) {
      beginEvent();
      doublingBegunNs = UNKNOWN;
    }
  }

  /** Sets how the table grows from now on. */
  public void options(TableGrowthOptions newOptions) {
    options = newOptions;
  }

  /** Sets who is told which tables can be read; those in use now are known. */
  void onChange(Listener newListener) {
    listener = newListener;
  }

  /** The superblock's file. */
  PersistentMemory superblockMemory() {
    return superblockMemory;
  }

  /** The superblock as it is stored now. */
  Superblock superblock() {
    return superblock;
  }

  /** Sets who is told of doublings. */
  void tell(ToldService of) {
    told = of;
  }

  /** Doublings finished since the store was opened. */
  public long doublings() {
    return doublings;
  }

  /** How often a doubling had to wait for room on the disk. */
  public long timesPutOff() {
    return timesPutOff;
  }

  /** Whether the new table is being made, or entries are moved. */
  public boolean growing() {
    return creation != null || tables.doubling() != null;
  }

  /** Whether the new table's file is being made: there will be room when it is. */
  boolean creating() {
    return creation != null;
  }

  /** Whether the doubling waits for a word that a put is going to decide: then it goes on. */
  boolean waitsForLive() {
    Doubling doubling = tables.doubling();
    return doubling != null && doubling.stuck() && stuckAtLive && decisions.anyLive();
  }

  /** Whether what keeps the table from growing is the disk. */
  boolean diskFull() {
    return putOff;
  }

  /**
   * One step. Returns 0 when there is nothing to do now.
   *
   * @throws UncheckedIOException when the files of the store failed
   */
  public int doWork(long now) {
    nowNs = now;
    creationSteps = 0;
    int work = tables.current().table().doWork() + giveBack();
    if (creation != null) {
      create();
      return work + 1;
    }
    if (tables.doubling() != null) {
      do {
        work += move();
      } while (tables.doubling() != null && tables.owed() > 0);
      return work;
    }
    if (putOff && nowNs - retryNs >= 0) {
      putOff = false;
    }
    if (mayGrow() && isFull()) {
      begin();
      return work + 1;
    }
    return work;
  }

  /**
   * Makes room for an insertion that failed: a step of what is under way, or the beginning. The
   * insertion is tried again after it.
   *
   * @return false when nothing can be done
   */
  boolean makeRoom() {
    if (creation != null) {
      if (creationSteps == CREATION_STEPS_AT_ONCE) {
        return false;
      }
      creationSteps++;
      create();
      if (tables.doubling() != null) {
        // A small table is empty then before anything is inserted beside what it holds.
        tables.owe((long) STRETCHES_AT_ONCE * options.stretchSlots());
      }
      return !putOff;
    }
    if (tables.doubling() != null) {
      boolean owed = tables.owed() > 0;
      move();
      // An insertion that waits only for entries that can't be moved now is not to wait longer.
      return tables.doubling() == null || !tables.doubling().stuck() || owed;
    }
    HashTable table = tables.current().table();
    if (!mayGrow() || !table.isTaken(SLOTS_PER_ENTRY_MAX)) {
      return false;
    }
    begin();
    return !putOff;
  }

  private boolean mayGrow() {
    return !putOff && 2 * tables.buckets() <= options.bucketsMax();
  }

  /** After an opening it takes some steps until the table is counted. */
  private boolean isFull() {
    HashTable table = tables.current().table();
    return table.sizeKnown() && table.size() * SLOTS_PER_ENTRY > table.buckets();
  }

  // 1: the file.

  private void begin() {
    long buckets = 2 * tables.buckets();
    beginEvent();
    try {
      creation = directory.creating(fileOfNext(), HashTable.bytesFor(buckets));
    } catch (IOException e) {
      putOff();
    }
  }

  private String fileOfNext() {
    return StoreFiles.table(superblock.tableGeneration() + 1);
  }

  private void create() {
    PersistentMemory memory = null;
    try {
      memory = creation.step();
      if (memory != null) {
        creation.close();
        creation = null;
        open(memory);
      }
    } catch (IOException e) {
      if (creation != null) {
        creation.close();
        creation = null;
      }
      if (memory != null) {
        abandon(memory, e);
      }
      putOff();
    }
  }

  /** The superblock does not name it: it may go. */
  private void abandon(PersistentMemory memory, IOException reason) {
    memory.close();
    try {
      directory.delete(fileOfNext());
    } catch (IOException e) {
      e.addSuppressed(reason);
      throw new UncheckedIOException(e);
    }
  }

  private void putOff() {
    putOff = true;
    timesPutOff++;
    retryNs = nowNs + RETRY_NS;
  }

  // 2, 3: both.

  private void open(PersistentMemory memory) throws IOException {
    HashTable table = HashTable.create(memory, 2 * tables.buckets(), root);
    directory.sync();
    store(superblock.withDoubling());
    Tables.Generation generation =
        new Tables.Generation(superblock.tableGeneration() + 1, memory, table);
    stuckNs = STUCK_NS_MIN;
    tables.begin(generation);
    listener.opened(generation);
    root.nextEpoch();
  }

  /** Where that fails it may be stored or not: whoever opens the store finds out. */
  private void store(Superblock changed) {
    changed.store(superblockMemory);
    superblock = changed.stored();
  }

  // 4: moving.

  private int move() {
    Doubling doubling = tables.doubling();
    boolean pauses = !stuckAtLive || decisions.anyLive();
    if (doubling.stuck() && pauses && nowNs - retryNs < 0) {
      tables.owe(0);
      return 0;
    }
    if (doubling.progress() == 0) {
      metLive = false;
    }
    int moved = doubling.doWork(options.stretchSlots(), this::decide);
    tables.paid(moved);
    if (doubling.done()) {
      finish();
    } else if (doubling.stuck()) {
      tables.owe(0);
      stuckAtLive = metLive;
      // A word that is live is decided soon.
      stuckNs = metLive ? STUCK_NS_MIN : Math.min(2 * stuckNs, RETRY_NS);
      retryNs = nowNs + stuckNs;
    }
    return moved;
  }

  /** An entry whose word is live stays where it is until its put is decided. */
  private void decide(long slot, long keyWord, long word) {
    metLive |= VersionWord.pending(decisions.decide(tables.current().entry(slot), keyWord, word));
  }

  // 5, 6: the new one alone.

  private void finish() {
    store(superblock.withDoubled());
    root.nextEpoch();
    Tables.Generation old = tables.end();
    retired.add(new Retired(old, nowNs));
    doublings++;
    recordDoubled();
    try {
      directory.delete(StoreFiles.table(old.number()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void beginEvent() {
    doublingBegunNs = nowNs;
    event = Events.begin(DoublingEvent::new);
  }

  private void recordDoubled() {
    if (Events.wanted(event)) {
      event.fromBuckets = tables.buckets() / 2;
      event.toBuckets = tables.buckets();
      event.entries = tables.size();
      event.commit();
    }
    event = null;
    told.listener()
        .doubled(
            tables.buckets() / 2,
            tables.buckets(),
            tables.sizeIfKnown(),
            doublingBegunNs == UNKNOWN ? -1 : nowNs - doublingBegunNs);
  }

  // 7: the old one goes.

  private int giveBack() {
    Retired oldest = retired.peek();
    if (oldest == null || tables.isHeld() || nowNs - oldest.sinceNs < options.graceNs()) {
      return 0;
    }
    PersistentMemory memory = oldest.generation.memory();
    if (discarded < 0) {
      listener.retired(oldest.generation);
      discarded = 0;
    }
    long bytes = Math.min(DISCARD_BYTES, memory.segment().byteSize() - discarded);
    memory.discard(discarded, bytes);
    discarded += bytes;
    if (discarded == memory.segment().byteSize()) {
      memory.close();
      retired.remove();
      discarded = -1;
    }
    return 1;
  }

  /** Releases what is not in use. */
  void close() {
    if (creation != null) {
      creation.close();
      creation = null;
    }
    retired.forEach(old -> old.generation.memory().close());
    retired.clear();
    superblockMemory.close();
  }
}
