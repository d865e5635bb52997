package io.erda.server.engine.tables;

import io.erda.hashtable.HashTable;
import io.erda.hashtable.Resizing;
import io.erda.hashtable.VersionWord;
import io.erda.pmem.Creation;
import io.erda.pmem.FileErrors;
import io.erda.pmem.Leftovers;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.StoreTables;
import io.erda.server.engine.events.DoublingEvent;
import io.erda.server.engine.events.Events;
import io.erda.server.engine.events.HalvingEvent;
import io.erda.server.engine.events.ResizingEvent;
import io.erda.server.engine.events.ServiceListener;
import io.erda.server.engine.files.RootFile;
import io.erda.server.engine.files.StoreFiles;
import io.erda.server.engine.files.SuperblockFile;
import io.erda.server.engine.files.TableGrowthOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;

/**
 * Resizes the table in both directions: doubles it when it gets full, and halves it when it is far
 * too large. It works in steps that take some tenths of a millisecond, while everything else goes
 * on (design, "Resizing"). One thread, the engine's.
 *
 * <pre>
 *   1  the file of the other size is created and formatted, durably; unused so far
 *   2  superblock: a doubling, or a halving, is on      from now on an opening opens both
 *   3  registered; epoch + 1                            from now on insertions go to the new table
 *   4  entries are moved, stretch by stretch            see {@link Resizing}
 *   5  superblock: the new table is the table
 *   6  epoch + 1; the old file is unlinked
 *   7  after a grace: deregistered, its pages given back, unmapped
 * </pre>
 *
 * A crash before 2 leaves a file that no superblock names: the next opening removes it, as it does
 * with the old one after a crash between 5 and 6. Between 2 and 5 the opening repairs the stretch
 * under way, and moving begins at slot 0 again, skipping entries that are MOVED.
 *
 * <p>When there is no room for the file, or the table has the largest allowed size, the resizing is
 * postponed: insertions without room are refused because the table is full, all other operations go
 * on, and the resizing is tried again later.
 *
 * <p><b>A halving that turns around.</b> With half the buckets two neighbourhoods become one. At
 * the load at which a halving begins random keys never fill it, but keys that were chosen by their
 * hashes can. Then the moved entries are moved back, by the same steps in the other direction:
 *
 * <pre>
 *   4a  the resizing is forgotten: nothing is MOVED     see {@link Resizing#forget}
 *   4b  superblock: the small table is doubled into the large one
 *   4c  epoch + 1                                       from now on insertions go to the large table
 * </pre>
 *
 * The resizing goes on with step 4. No smaller table is tried again before the next opening, or
 * before the table has doubled.
 */
public final class TableGrowth {
  private static final long UNKNOWN = Long.MIN_VALUE;

  /**
   * A doubling begins above a load of 1/2: {@code hashtable/FORMAT.md}, "How full". The rest is
   * room for insertions while the new file is made.
   */
  private static final int SLOTS_PER_ENTRY = 2;

  /**
   * When an insertion fails at a lower load than this, too many keys have equal hashes to be
   * random, and doubling would not help.
   */
  private static final int SLOTS_PER_ENTRY_MAX = 8;

  /** How many stretches are moved at once for an insertion that had to wait for the new table. */
  private static final int STRETCHES_AT_ONCE = 64;

  /**
   * The most steps of a new file's creation that insertions without room take between two steps of
   * the server, so that a file of many GiB does not delay other requests. Most tables take fewer
   * steps.
   */
  static final int CREATION_STEPS_AT_ONCE = 64;

  /** How many slots of the table that is being left one step of turning around checks. */
  private static final int FORGOTTEN_AT_ONCE = 4096;

  /** No table is halved while this many replaced tables can still be read. */
  private static final int RETIRED_MAX = 8;

  private static final long RETRY_NS = 1_000_000_000L;
  private static final long STUCK_NS_MIN = RETRY_NS / 1000;

  /** How many bytes of a removed table one step gives back. */
  private static final long DISCARD_BYTES = 1 << 20;

  /** Receives the changes of the tables that can be read. */
  public interface Listener {
    /** For a table that nobody reads. */
    Listener NONE = new Listener() {};

    default void opened(Tables.Generation generation) {}

    default void retired(Tables.Generation generation) {}
  }

  private record Retired(Tables.Generation generation, long sinceNs) {}

  private final MemoryDirectory directory;
  private final RootFile root;
  private final Tables tables;
  private final Decisions decisions;
  private final TombstoneSweep sweep;

  /** Removes the files of tables that the superblock does not name. */
  private final Leftovers leftovers;

  private final SuperblockFile superblock;
  private final TableGrowthOptions options;
  private final Listener listener;
  private final ServiceListener told;
  private final ArrayDeque<Retired> retired = new ArrayDeque<>();

  /** The creation of the new table's file; null when no file is being made. */
  private Creation creation;

  /** Buckets of the table whose file is being made. */
  private long createdBuckets;

  /** Whether a halving has found no room and is being undone. */
  private boolean turning;

  /** The number of buckets to which a halving has found no room. */
  private long tooFewBuckets;

  /** Steps of a creation or of turning around that insertions took since {@link #doWork}. */
  private int stepsForInsertions;

  private long nowNs;

  /** Whether the last attempt found no room; the next attempt is at {@link #retryNs}. */
  private boolean putOff;

  private String whyPutOff = "";

  private long retryNs;

  /**
   * How long a stuck resizing waits before it tries again. It waits longer each time, because
   * damaged entries never recover.
   */
  private long stuckNs = STUCK_NS_MIN;

  /** Whether this pass over the old table left an entry because its word is live. */
  private boolean metLive;

  /** Whether the last pass left such an entry, and moved nothing. */
  private boolean stuckAtLive;

  /** The flight recorder's event of the resizing that is under way. */
  private ResizingEvent event;

  /** When the resizing began, or {@link #UNKNOWN} if that was before the store was opened. */
  private long resizingBegunNs;

  private long discarded = -1;
  private long doublings;
  private long halvings;
  private long turns;
  private long timesPutOff;

  /**
   * @param listener receives the changes of the tables that can be read; it already knows the
   *     tables that are in use now
   * @param told receives doublings and halvings
   */
  public TableGrowth(
      MemoryDirectory directory,
      RootFile root,
      Tables tables,
      Decisions decisions,
      TombstoneSweep sweep,
      Leftovers leftovers,
      SuperblockFile superblock,
      TableGrowthOptions options,
      Listener listener,
      ServiceListener told) {
    this.leftovers = leftovers;
    this.options = options;
    this.listener = listener;
    this.told = told;
    this.directory = directory;
    this.root = root;
    this.tables = tables;
    this.decisions = decisions;
    this.sweep = sweep;
    this.superblock = superblock;
    if (tables.resizing() != null) {
      beginEvent(superblock.now().tables().nextBuckets());
      resizingBegunNs = UNKNOWN;
    }
  }

  /** Doublings finished since the store was opened. */
  public long doublings() {
    return doublings;
  }

  /** Halvings finished since the store was opened. */
  public long halvings() {
    return halvings;
  }

  /** Halvings that found no room for an entry and turned around, since the store was opened. */
  public long turns() {
    return turns;
  }

  /** Entries of deleted keys that were emptied by a sweep since the store was opened. */
  public long tombstonesEmptied() {
    return sweep.emptied();
  }

  /** How often a doubling or halving had to wait for room on the disk. */
  public long timesPutOff() {
    return timesPutOff;
  }

  /**
   * Whether there is work to do without a request: a new table is being made, entries are moved, or
   * entries of deleted keys are searched for.
   */
  public boolean working() {
    return growing() || shrinking() || sweep.underWay();
  }

  /** Whether a table of twice the buckets is being made, or entries are moved into it. */
  public boolean growing() {
    return creation == null
        ? tables.resizing() != null && !tables.halving()
        : createdBuckets > tables.buckets();
  }

  /** Whether a table of half the buckets is being made, or entries are moved into it. */
  public boolean shrinking() {
    return creation == null ? tables.halving() : createdBuckets < tables.buckets();
  }

  /**
   * Whether a new table's file is being made, or a halving turns around, so that there will be
   * room.
   */
  boolean makesRoom() {
    return creation != null || turning;
  }

  /** Whether the resizing waits for a word that a put will decide. */
  boolean waitsForLive() {
    Resizing resizing = tables.resizing();
    return resizing != null && resizing.stuck() && stuckAtLive && decisions.anyLive();
  }

  /** Whether the table can't grow for lack of disk space; {@link #whyPutOff} has the details. */
  boolean diskFull() {
    return putOff;
  }

  /** Why the last attempt could not make a file for another table. */
  String whyPutOff() {
    return whyPutOff;
  }

  /**
   * Takes one step. Returns 0 when there is no work now.
   *
   * @throws UncheckedIOException when the files of the store failed
   */
  public int doWork(long now) {
    nowNs = now;
    stepsForInsertions = 0;
    int work = tables.current().table().doWork() + giveBack();
    if (creation != null) {
      create();
      return work + 1;
    }
    if (tables.resizing() != null) {
      do {
        work += turning ? turn() : move();
      } while (tables.resizing() != null && tables.owed() > 0);
      return work;
    }
    if (putOff && nowNs - retryNs >= 0) {
      putOff = false;
    }
    // The sweep comes first, because a table full of deleted keys need not be doubled.
    int swept = sweep.doWork();
    if (swept > 0) {
      return work + swept;
    }
    if (mayGrow() && isFull()) {
      begin(2 * tables.buckets());
      return work + 1;
    }
    if (mayShrink() && isFarTooLarge()) {
      begin(tables.buckets() / 2);
      return work + 1;
    }
    return work;
  }

  /**
   * Makes room for an insertion that failed: takes a step of the resizing under way, or begins one.
   * The insertion is tried again afterwards.
   *
   * @return false when nothing can be done now
   */
  public boolean makeRoom(long keyWord) {
    if (creation != null && createdBuckets < tables.buckets()) {
      // The file that is being made is for a smaller table, which has no more room.
      giveUpCreation();
      tooFewBuckets = createdBuckets;
    }
    if (creation != null) {
      if (stepsForInsertions == CREATION_STEPS_AT_ONCE) {
        return false;
      }
      stepsForInsertions++;
      create();
      if (tables.resizing() != null) {
        // The owed slots make sure that a small table is emptied before further insertions.
        tables.owe((long) STRETCHES_AT_ONCE * options.stretchSlots());
      }
      return !putOff;
    }
    if (tables.halving() && !tables.owesTooMuch()) {
      return makeRoomByTurning();
    }
    if (tables.resizing() != null) {
      if (tables.isCrowded(keyWord)) {
        return false;
      }
      boolean owed = tables.owed() > 0;
      move();
      // When the remaining entries can't be moved now, the insertion must not wait for them.
      return tables.resizing() == null || !tables.resizing().stuck() || owed;
    }
    HashTable table = tables.current().table();
    if (!mayGrow() || !table.isTaken(SLOTS_PER_ENTRY_MAX)) {
      return false;
    }
    sweep.giveUp();
    begin(2 * tables.buckets());
    return !putOff;
  }

  private boolean makeRoomByTurning() {
    turning = true;
    while (turning) {
      if (stepsForInsertions == CREATION_STEPS_AT_ONCE) {
        return false;
      }
      stepsForInsertions++;
      turn();
    }
    return true;
  }

  private boolean mayGrow() {
    return !putOff && 2 * tables.buckets() <= options.bucketsMax();
  }

  /**
   * Whether the table is full. After an opening it takes some steps until the entries are counted.
   */
  private boolean isFull() {
    HashTable table = tables.current().table();
    return table.sizeKnown() && table.size() * SLOTS_PER_ENTRY > table.buckets();
  }

  private boolean mayShrink() {
    long half = tables.buckets() / 2;
    return !putOff
        && half >= superblock.now().tables().bucketsLeast()
        && half > tooFewBuckets
        && retired.size() < RETIRED_MAX;
  }

  private boolean isFarTooLarge() {
    HashTable table = tables.current().table();
    return table.sizeKnown() && table.size() * options.bucketsPerEntryHalved() <= table.buckets();
  }

  // Step 1: the file.

  private void begin(long buckets) {
    createdBuckets = buckets;
    beginEvent(buckets);
    try {
      if (directory.exists(fileOfNext())) {
        // The name may belong to a file of an earlier attempt that failed and could not be removed.
        directory.delete(fileOfNext());
      }
      creation = directory.creating(fileOfNext(), HashTable.bytesFor(buckets));
    } catch (IOException | UncheckedIOException e) {
      putOff(e);
    }
  }

  /**
   * The name of the next file. Each number is used once, so a file that could not be removed is not
   * confused with another.
   */
  private String fileOfNext() {
    return StoreFiles.table(superblock.now().tables().made() + 1);
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
      giveUpCreation();
      if (memory != null) {
        abandon(memory);
      }
      putOff(e);
    }
  }

  private void giveUpCreation() {
    if (creation != null) {
      creation.close();
      creation = null;
    }
  }

  /** Removes a new table, which the superblock does not name. */
  private void abandon(PersistentMemory memory) {
    memory.close();
    leftovers.remove(fileOfNext());
  }

  private void putOff(Exception e) {
    putOff = true;
    whyPutOff = "no hash table of " + createdBuckets + " buckets: " + FileErrors.explain(e);
    timesPutOff++;
    retryNs = nowNs + RETRY_NS;
  }

  // Steps 2 and 3: both tables.

  private void open(PersistentMemory memory) throws IOException {
    HashTable table = HashTable.create(memory, createdBuckets, root);
    directory.sync();
    store(superblock.now().tables().withNext(createdBuckets));
    Tables.Generation generation =
        new Tables.Generation(superblock.now().tables().nextGeneration(), memory, table);
    stuckNs = STUCK_NS_MIN;
    tables.begin(generation);
    listener.opened(generation);
    root.nextEpoch();
  }

  private void store(StoreTables changed) {
    superblock.store(changed);
  }

  // Step 4: moving.

  private int move() {
    Resizing resizing = tables.resizing();
    boolean pauses = !stuckAtLive || decisions.anyLive();
    if (resizing.stuck() && pauses && nowNs - retryNs < 0) {
      tables.owe(0);
      return 0;
    }
    if (resizing.progress() == 0) {
      metLive = false;
    }
    int moved = resizing.doWork(options.stretchSlots(), this::decide);
    tables.paid(moved);
    if (resizing.metNoRoom() && tables.halving()) {
      turning = true;
      tables.owe(0);
    } else if (resizing.done()) {
      finish();
    } else if (resizing.stuck()) {
      tables.owe(0);
      stuckAtLive = metLive;
      // A live word will be decided soon, so the resizing waits only for a short time.
      stuckNs = metLive ? STUCK_NS_MIN : Math.min(2 * stuckNs, RETRY_NS);
      retryNs = nowNs + stuckNs;
    }
    return moved;
  }

  /** Takes a step of turning around. */
  private int turn() {
    if (tables.resizing().forget(FORGOTTEN_AT_ONCE)) {
      tooFewBuckets = tables.buckets();
      store(superblock.now().tables().turned());
      tables.turn();
      root.nextEpoch();
      turning = false;
      stuckNs = STUCK_NS_MIN;
      turns++;
      told.turned(tables.current().table().buckets(), tables.buckets());
    }
    return FORGOTTEN_AT_ONCE;
  }

  /**
   * Decides the word of an entry. An entry with a live word stays where it is until its put is
   * decided.
   */
  private void decide(long slot, long keyWord, long word) {
    metLive |= VersionWord.pending(decisions.decide(tables.current().entry(slot), keyWord, word));
  }

  // Steps 5 and 6: only the new table.

  private void finish() {
    store(superblock.now().tables().withNextAlone());
    root.nextEpoch();
    Tables.Generation old = tables.end();
    retired.add(new Retired(old, nowNs));
    recordResized(old.table().buckets());
    leftovers.remove(StoreFiles.table(old.number()));
  }

  private void beginEvent(long toBuckets) {
    resizingBegunNs = nowNs;
    event =
        toBuckets > tables.current().table().buckets()
            ? Events.begin(DoublingEvent::new)
            : Events.begin(HalvingEvent::new);
  }

  private void recordResized(long from) {
    long to = tables.buckets();
    if (Events.wanted(event)) {
      event.fromBuckets = from;
      event.toBuckets = to;
      event.entries = tables.size();
      event.commit();
    }
    event = null;
    long tookNs = resizingBegunNs == UNKNOWN ? -1 : nowNs - resizingBegunNs;
    if (to < from) {
      halvings++;
      told.halved(from, to, tables.sizeIfKnown(), tookNs);
    } else {
      if (from != tooFewBuckets) {
        tooFewBuckets = 0;
        doublings++;
        told.doubled(from, to, tables.sizeIfKnown(), tookNs);
      }
    }
  }

  // Step 7: the old table is given back.

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

  /** Releases the replaced tables. */
  public void close() {
    giveUpCreation();
    retired.forEach(old -> old.generation.memory().close());
    retired.clear();
  }
}
