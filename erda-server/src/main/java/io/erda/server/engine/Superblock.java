package io.erda.server.engine;

import io.erda.logstore.LogGeometry;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import io.erda.protocol.PutMode;
import io.erda.protocol.SuperblockLayout;
import java.lang.foreign.MemorySegment;
import java.util.UUID;

/**
 * What a store is. Two copies are stored one after the other ({@link SuperblockLayout}): a torn
 * write leaves the other one, and so does a damaged page.
 *
 * @param sequence of the newest copy
 * @param doubling whether the table is being doubled into the one of the next generation
 * @param promise what every put that the store acknowledged survives: {@link Promise#PROCESS} or
 *     {@link Promise#POWER}; {@link Promise#ATOMIC} where puts are announced first
 * @param putMode since the store was created
 */
record Superblock(
    long sequence,
    UUID store,
    LogGeometry geometry,
    int tableGeneration,
    long buckets,
    long hashSeed,
    boolean doubling,
    Promise promise,
    PutMode putMode) {
  /** Both copies lie in a memory of so many bytes. */
  static final long BYTES = SuperblockLayout.BYTES;

  /** The next one: the table is being doubled. */
  Superblock withDoubling() {
    return next(tableGeneration, buckets, true);
  }

  /** The next one: the table of twice the buckets is the table. */
  Superblock withDoubled() {
    return next(tableGeneration + 1, 2 * buckets, false);
  }

  /** The next one, which says the same. */
  Superblock again() {
    return next(tableGeneration, buckets, doubling);
  }

  /** The next one: from now on the store keeps this promise. */
  Superblock withPromise(Promise kept) {
    return new Superblock(
        sequence + 1, store, geometry, tableGeneration, buckets, hashSeed, doubling, kept, putMode);
  }

  private Superblock next(int generation, long ofBuckets, boolean nowDoubling) {
    return new Superblock(
        sequence + 1,
        store,
        geometry,
        generation,
        ofBuckets,
        hashSeed,
        nowDoubling,
        promise,
        putMode);
  }

  /** This one, when {@link #store} has stored it: as it would be loaded. */
  Superblock stored() {
    return next(tableGeneration, buckets, doubling);
  }

  /** Stores both copies, each durable before the next is touched. */
  void store(PersistentMemory memory) {
    storeCopy(memory, sequence);
    storeCopy(memory, sequence + 1);
  }

  private void storeCopy(PersistentMemory memory, long copySequence) {
    MemorySegment bytes =
        SuperblockLayout.encode(
            new SuperblockLayout.Fields(
                copySequence,
                store,
                geometry.heads(),
                geometry.segmentBytes(),
                geometry.regionBytes(),
                geometry.regionsMax(),
                tableGeneration,
                buckets,
                hashSeed,
                doubling,
                promise,
                putMode));
    long at = SuperblockLayout.copyAt(copySequence);
    memory.put(at, bytes, 0, bytes.byteSize());
    memory.flush(at, bytes.byteSize());
    memory.drain();
  }

  /**
   * The newest whole copy.
   *
   * @throws ErdaException.Unusable for a store of another version
   * @throws ErdaException.Damaged when neither copy is whole
   */
  static Superblock load(PersistentMemory memory) {
    SuperblockLayout.Fields fields = SuperblockLayout.newest(memory.segment());
    try {
      LogGeometry geometry =
          new LogGeometry(
              fields.heads(), fields.regionBytes(), fields.segmentBytes(), fields.regionsMax());
      return new Superblock(
          fields.sequence(),
          fields.store(),
          geometry,
          fields.tableGeneration(),
          new StoreGeometry(geometry, fields.buckets()).buckets(),
          fields.hashSeed(),
          fields.doubling(),
          fields.promise(),
          fields.putMode());
    } catch (IllegalArgumentException e) {
      throw new ErdaException.Damaged("superblock is damaged: " + e.getMessage());
    }
  }
}
