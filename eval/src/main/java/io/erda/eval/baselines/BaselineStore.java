package io.erda.eval.baselines;

import io.erda.hashtable.Entry;
import io.erda.hashtable.HashTable;
import io.erda.hashtable.KeyHash;
import io.erda.hashtable.StructureCounter;
import io.erda.hashtable.TableFinding;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * A store of either baseline: redo log, its index, and the destination. One thread. Owns its
 * memories, borrows the directory.
 */
final class BaselineStore implements AutoCloseable {
  /** A counter that does nothing: only the server, which moves entries, reads them. */
  private static final StructureCounter NOBODY_READS =
      new StructureCounter() {
        @Override
        public void beginMove() {}

        @Override
        public void endMove() {}
      };

  private static final String TABLE = "table";
  private static final String SLAB = "slab";
  private static final String LOG_PREFIX = "log-";

  private final BaselineGeometry geometry;
  private final long lagBytes;
  private final KeyHash hash;
  private final PersistentMemory tableMemory;
  private final PersistentMemory slabMemory;
  private final Destination destination;
  private final List<Place> awaited = new ArrayList<>();
  private final ArrayDeque<Place> places = new ArrayDeque<>();

  private PersistentMemory logMemory;
  private RedoLog log;
  private LogIndex index;

  /** Whether no client can still be in the middle of a WRITE to a place that was given up. */
  private BooleanSupplier noStrangers = () -> true;

  private boolean strangersPossible;

  /** Whether records were found or appended and not drained. */
  private boolean undrained;

  /** The batch that is being applied. */
  private final List<Place> batch = new ArrayList<>();

  /** The result of {@link #locate}. */
  private MemorySegment foundMemory;

  private long foundAt;
  private int foundLength;

  private BaselineStore(MemoryDirectory directory, BaselineSuperblock superblock, long lagBytes)
      throws IOException {
    this.geometry = superblock.geometry();
    this.lagBytes = lagBytes;
    this.hash = new KeyHash(superblock.seed());
    this.tableMemory = directory.open(TABLE);
    this.slabMemory = directory.open(SLAB);
    this.destination =
        new Destination(HashTable.open(tableMemory, NOBODY_READS), new Slab(slabMemory, geometry));
    recover(directory);
  }

  /**
   * Opens the store of a directory, whose lock the caller holds; creates it if there is none.
   *
   * @param geometry and {@code kind} of a new store; an existing one keeps its geometry
   * @param lagBytes of the log that may stay unapplied while there is nothing else to do
   * @throws IllegalStateException when the store is of the other kind, or damaged
   */
  static BaselineStore open(
      MemoryDirectory directory,
      BaselineGeometry geometry,
      BaselineKind kind,
      long lagBytes,
      RandomGenerator random)
      throws IOException {
    // Visible stores may be lost with the next failure: then an update in place must not be torn,
    // nor may an entry name an object that was not drained.
    directory.makeDurable();
    if (!directory.exists(BaselineSuperblock.NAME)) {
      create(directory, geometry, kind, random.nextLong());
    }
    BaselineSuperblock superblock = BaselineSuperblock.read(directory);
    if (superblock.kind() != kind) {
      throw new IllegalStateException("a store of " + superblock.kind() + ", not of " + kind);
    }
    return new BaselineStore(directory, superblock, lagBytes);
  }

  /** Creates a store. The superblock comes last: without it there is no store. */
  private static void create(
      MemoryDirectory directory, BaselineGeometry geometry, BaselineKind kind, long seed)
      throws IOException {
    directory.delete(TABLE);
    directory.delete(SLAB);
    try (PersistentMemory table = directory.create(TABLE, HashTable.bytesFor(geometry.buckets()))) {
      HashTable.create(table, geometry.buckets(), NOBODY_READS);
    }
    directory.create(SLAB, Slab.bytesFor(geometry)).close();
    new BaselineSuperblock(geometry, kind, seed).create(directory);
  }

  // Recovery.

  /**
   * Applies the logs of earlier servers, and makes a new log. An old log is durably removed before
   * the new one takes a record, so no old record is applied after a newer one.
   */
  private void recover(MemoryDirectory directory) throws IOException {
    int generation = 0;
    for (String name : directory.names()) {
      if (name.startsWith(LOG_PREFIX)) {
        generation = Math.max(generation, Integer.parseInt(name.substring(LOG_PREFIX.length())));
        try (PersistentMemory memory = directory.open(name)) {
          replay(memory);
        }
        directory.delete(name);
      }
    }
    logMemory =
        directory.create(LOG_PREFIX + (generation + 1), RedoLog.bytesFor(geometry.logBytes()));
    log = RedoLog.create(logMemory, geometry.logBytes());
    index = new LogIndex(log);
    directory.sync();
  }

  private void replay(PersistentMemory memory) {
    log = RedoLog.open(memory);
    if (log == null) {
      return;
    }
    index = new LogIndex(log);
    log.recover(position -> {
      MemorySegment records = log.segment();
      long at = log.objectAt(position);
      int bytes =
          ObjectLayout.bytes(
              ObjectLayout.keyLength(records, at), ObjectLayout.valueLength(records, at));
      Place place = new Place(position, bytes, 0);
      places.add(place);
      see(place);
    });
    drain();
    applyAll();
  }

  // Space and order.

  /** The longest object: it fits into a message, a chunk and an eighth of the log. */
  int objectBytesMax() {
    int message = BaselineMessage.BYTES_MAX - BaselineMessage.OBJECT_AT;
    int chunk = geometry.chunkBytes() - Slab.HEADER_BYTES;
    return Math.min(Math.min(message, chunk), log.objectBytesMax());
  }

  /** Whether another put can be accepted, assuming that all records in the log are new keys. */
  boolean hasRoomForPut() {
    if (isNearlyFull()) {
      drain();
      applyAll();
      return !isNearlyFull();
    }
    return true;
  }

  private boolean isNearlyFull() {
    long unapplied =
        places.isEmpty() ? 0 : log.tail() - places.peekFirst().position + RedoLog.ALIGNMENT;
    HashTable table = destination.table();
    return table.size() + places.size() >= table.buckets() / 2
        || destination.slab().freeChunkBytes()
            < 2 * (unapplied + geometry.chunkBytes()) + spareForClasses();
  }

  /** Bytes for one more chunk for each class that the records need. */
  private long spareForClasses() {
    long classes = Slab.classOf(geometry.chunkBytes()) - Slab.classOf(0) + 1L;
    return Math.min(places.size() + 1, classes) * geometry.chunkBytes();
  }

  /** Reserves the next place, for a client or for {@link #append}; null when the log is full. */
  Place reserve(int objectBytes, long nowNs) {
    long position = log.reserve(objectBytes);
    if (position == RedoLog.NONE) {
      drain();
      applyAll();
      passApplied();
      position = log.reserve(objectBytes);
    }
    if (position == RedoLog.NONE) {
      return null;
    }
    Place place = new Place(position, objectBytes, nowNs);
    places.add(place);
    return place;
  }

  /** Notes that a client was told to WRITE to a place. */
  void await(Place place) {
    awaited.add(place);
  }

  /** Stores a record of the server itself; it counts from the next {@link #drain}. */
  void append(Place place, MemorySegment source, ObjectChecksum sourceSum, long objectAt) {
    log.append(place.position, source, sourceSum, objectAt, place.objectBytes);
    see(place);
  }

  /** Checks the places that clients were given, in order. Returns how many records were found. */
  int look() {
    int kept = 0;
    for (int i = 0; i < awaited.size(); i++) {
      Place place = awaited.get(i);
      if (!lookAt(place)) {
        awaited.set(kept++, place);
      }
    }
    int seen = awaited.size() - kept;
    while (awaited.size() > kept) {
      awaited.removeLast();
    }
    return seen;
  }

  private boolean lookAt(Place place) {
    if (!log.isWhole(place.position, place.objectBytes)) {
      return false;
    }
    log.flush(place.position, place.objectBytes);
    see(place);
    return true;
  }

  /** Notes and flushes the whole record of a place. It counts from the next {@link #drain} on. */
  private void see(Place place) {
    MemorySegment records = log.segment();
    long at = log.objectAt(place.position);
    place.keyWord =
        keyWord(records, at + ObjectLayout.KEY_OFFSET, ObjectLayout.keyLength(records, at));
    place.state = Place.State.SEEN;
    index.put(place.keyWord, place.position);
    undrained = true;
  }

  /** Gives up a place whose client was fenced, unless its record is there. */
  void giveUp(Place place) {
    if (place.state == Place.State.GIVEN && !lookAt(place)) {
      place.state = Place.State.GIVEN_UP;
      strangersPossible = true;
    }
    awaited.remove(place);
  }

  List<Place> awaited() {
    return awaited;
  }

  void noStrangers(BooleanSupplier condition) {
    noStrangers = condition;
  }

  /** Makes the records found durable. No request may be answered from them before. */
  void drain() {
    if (undrained) {
      log.drain();
      undrained = false;
    }
  }

  // Applying.

  /** Applies a batch if more is unapplied than allowed. Returns how many records. */
  int apply() {
    int applied = unappliedBytes() > lagBytes ? applyBatch() : 0;
    if (applied > 0 && appliedPosition() - log.head() > log.ringBytes() / 4) {
      passApplied();
    }
    return applied;
  }

  private long unappliedBytes() {
    return places.isEmpty() ? 0 : log.tail() - places.peekFirst().position;
  }

  private void applyAll() {
    while (applyBatch() > 0) {
      // Until a place that a client was given and has not written to.
    }
  }

  /** REQUIRES: all records found are drained. */
  private int applyBatch() {
    assert !undrained : "a record is applied that may be lost";
    int taken = 0;
    boolean stored = false;
    while (taken < Destination.BATCH && mayApply(places.peekFirst())) {
      Place place = places.removeFirst();
      batch.add(place);
      taken++;
      if (place.state == Place.State.SEEN && index.isNewest(place.keyWord, place.position)) {
        destination.apply(place.keyWord, log.segment(), log.objectAt(place.position));
        stored = true;
      }
    }
    if (stored) {
      destination.commit();
    }
    for (Place place : batch) {
      if (place.state == Place.State.SEEN) {
        index.remove(place.keyWord, place.position);
      }
    }
    batch.clear();
    return taken;
  }

  private boolean mayApply(Place place) {
    return place != null && place.state != Place.State.GIVEN;
  }

  private long appliedPosition() {
    return places.isEmpty() ? log.tail() : places.peekFirst().position;
  }

  /** Moves the head of the log: the applied records are durable at their destination. */
  private void passApplied() {
    if (strangersPossible) {
      strangersPossible = !noStrangers.getAsBoolean();
    }
    if (!strangersPossible && appliedPosition() > log.head()) {
      log.advanceHead(appliedPosition());
    }
  }

  // Reading.

  private long keyWord(MemorySegment key, long at, int length) {
    // A slice is checked against the caller's memory, which the caller keeps alive.
    long code =
        key.isNative()
            ? hash.ofNative(key.asSlice(at, length).address(), length)
            : hash.of(key, at, length);
    return Entry.keyWord(code, 1);
  }

  /** Finds the value of a key, in the log or through the table. */
  boolean locate(MemorySegment key, long at, int length) {
    long keyWord = keyWord(key, at, length);
    long position = index.find(keyWord, key, at, length);
    if (position != LogIndex.NONE) {
      foundMemory = log.segment();
      long object = log.objectAt(position);
      foundLength = ObjectLayout.valueLength(foundMemory, object);
      foundAt = object + ObjectLayout.KEY_OFFSET + length;
      return !ObjectLayout.tombstone(foundMemory, object);
    }
    long address = destination.find(keyWord, key, at, length);
    if (address == 0) {
      return false;
    }
    foundMemory = destination.slab().segment();
    foundLength = destination.slab().valueLength(address);
    foundAt = address + Slab.HEADER_BYTES + length;
    return true;
  }

  MemorySegment foundMemory() {
    return foundMemory;
  }

  long foundAt() {
    return foundAt;
  }

  int foundLength() {
    return foundLength;
  }

  /** Checks the hash table. */
  void check(Consumer<? super TableFinding> findings) {
    destination.table().check(findings);
  }

  /** Number of keys with a value, once all records are applied. */
  long size() {
    return destination.table().size();
  }

  RedoLog log() {
    return log;
  }

  PersistentMemory logMemory() {
    return logMemory;
  }

  /** Applies all records, and closes the memories. The log stays for the next opening. */
  @Override
  public void close() {
    drain();
    applyAll();
    passApplied();
    release();
  }

  /** Closes the memories without changes. */
  void release() {
    logMemory.close();
    tableMemory.close();
    slabMemory.close();
  }
}
