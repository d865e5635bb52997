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
  /** Readers of entries come through the server, which is the one that moves them. */
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

  /** Whether nobody can still be in the middle of a WRITE to a place that was given up. */
  private BooleanSupplier noStrangers = () -> true;

  private boolean strangersPossible;

  /** Whether records were seen or appended and not drained. */
  private boolean undrained;

  /** The batch that is being applied. */
  private final List<Place> batch = new ArrayList<>();

  /** What {@link #locate} found. */
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
   * Opens the store of a directory, whose lock the caller has; makes one where there is none.
   *
   * @param geometry and {@code kind} of a new store; one that is there keeps its geometry
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
    // What is visible now may be gone after the next failure: then an update in place must not be
    // torn, nor an entry name what was not drained.
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

  /** The superblock comes last: without one there is no store. */
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

  // Recovery

  /**
   * Applies what earlier servers left in their logs, and makes a log of its own. An old one is
   * durably gone before the next takes a record, so none is ever applied behind a newer one.
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

  // Space and order

  /** The longest object: it fits into a message, a chunk and an eighth of the log. */
  int objectBytesMax() {
    int message = BaselineMessage.BYTES_MAX - BaselineMessage.OBJECT_AT;
    int chunk = geometry.chunkBytes() - Slab.HEADER_BYTES;
    return Math.min(Math.min(message, chunk), log.objectBytesMax());
  }

  /** Whether another put can be taken: all that is in the log may be new keys. */
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

  /** Each class that the records need may begin a chunk. */
  private long spareForClasses() {
    long classes = Slab.classOf(geometry.chunkBytes()) - Slab.classOf(0) + 1L;
    return Math.min(places.size() + 1, classes) * geometry.chunkBytes();
  }

  /** The next place, for a client or for {@link #append}; null where the log is full. */
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

  /** A client was told to WRITE there. */
  void await(Place place) {
    awaited.add(place);
  }

  /** Stores a record of the server's own; it counts from the next {@link #drain}. */
  void append(Place place, MemorySegment source, ObjectChecksum sourceSum, long objectAt) {
    log.append(place.position, source, sourceSum, objectAt, place.objectBytes);
    see(place);
  }

  /** Looks at the places that clients were given, in their order. Returns how many were seen. */
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

  /** The record of a place is whole, and flushed. It counts from the next {@link #drain} on. */
  private void see(Place place) {
    MemorySegment records = log.segment();
    long at = log.objectAt(place.position);
    place.keyWord =
        keyWord(records, at + ObjectLayout.KEY_OFFSET, ObjectLayout.keyLength(records, at));
    place.state = Place.State.SEEN;
    index.put(place.keyWord, place.position);
    undrained = true;
  }

  /** Gives a place up whose client was fenced, unless its record is there. */
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

  /** Makes durable what was seen. Nothing may be answered from it before. */
  void drain() {
    if (undrained) {
      log.drain();
      undrained = false;
    }
  }

  // Applying

  /** Applies a batch where more is unapplied than may be. Returns how many records. */
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
      // Until a place is met that a client was given and has not written to.
    }
  }

  /** REQUIRES: what was seen is drained. */
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

  /** Everything that was applied is durable, and the records are not needed any more. */
  private void passApplied() {
    if (strangersPossible) {
      strangersPossible = !noStrangers.getAsBoolean();
    }
    if (!strangersPossible && appliedPosition() > log.head()) {
      log.advanceHead(appliedPosition());
    }
  }

  // Reading

  private long keyWord(MemorySegment key, long at, int length) {
    // The memory is the caller's, who holds it; a slice of it is checked here.
    long code =
        key.isNative()
            ? hash.ofNative(key.asSlice(at, length).address(), length)
            : hash.of(key, at, length);
    return Entry.keyWord(code, 1);
  }

  /** Looks for the value of a key, in the log and then through the table. */
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

  /** Tells what is wrong with the hash table. */
  void check(Consumer<? super TableFinding> findings) {
    destination.table().check(findings);
  }

  /** Keys with a value, once everything is applied. */
  long size() {
    return destination.table().size();
  }

  RedoLog log() {
    return log;
  }

  PersistentMemory logMemory() {
    return logMemory;
  }

  /** Applies what was seen, and closes the memories. The log stays, for the next opening. */
  @Override
  public void close() {
    drain();
    applyAll();
    passApplied();
    release();
  }

  /** Closes the memories as they are. */
  void release() {
    logMemory.close();
    tableMemory.close();
    slabMemory.close();
  }
}
