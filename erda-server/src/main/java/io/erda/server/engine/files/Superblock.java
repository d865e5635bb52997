package io.erda.server.engine.files;

import io.erda.logstore.LogGeometry;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import io.erda.protocol.PutMode;
import io.erda.protocol.StoreTables;
import io.erda.protocol.SuperblockLayout;
import java.lang.foreign.MemorySegment;
import java.util.UUID;

/**
 * What a store is. Two copies are stored one after the other ({@link SuperblockLayout}): a torn
 * write leaves the other one, and so does a damaged page.
 *
 * @param sequence of the newest copy
 * @param tables which there are, and what becomes of them
 * @param promise what every put that the store acknowledged survives: {@link Promise#PROCESS} or
 *     {@link Promise#POWER}; {@link Promise#ATOMIC} where puts are announced first
 * @param putMode since the store was created
 */
public record Superblock(
    long sequence,
    UUID store,
    LogGeometry geometry,
    StoreTables tables,
    long hashSeed,
    Promise promise,
    PutMode putMode) {
  /** Both copies lie in a memory of so many bytes. */
  public static final long BYTES = SuperblockLayout.BYTES;

  /** The next one, with other tables. */
  public Superblock withTables(StoreTables now) {
    return new Superblock(sequence + 1, store, geometry, now, hashSeed, promise, putMode);
  }

  /** The next one, which says the same. */
  public Superblock again() {
    return withTables(tables);
  }

  /** The next one: from now on the store keeps this promise. */
  public Superblock withPromise(Promise kept) {
    return new Superblock(sequence + 1, store, geometry, tables, hashSeed, kept, putMode);
  }

  /** The next one: the log may have other numbers of regions and slots. */
  Superblock withGeometry(LogGeometry other) {
    return new Superblock(sequence + 1, store, other, tables, hashSeed, promise, putMode);
  }

  /** This one, when {@link #store} has stored it: as it would be loaded. */
  public Superblock stored() {
    return again();
  }

  /** Stores both copies, each durable before the next is touched. */
  public void store(PersistentMemory memory) {
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
                geometry.resizedSlots(),
                tables,
                hashSeed,
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
  public static Superblock load(PersistentMemory memory) {
    SuperblockLayout.Fields fields = SuperblockLayout.newest(memory.segment());
    try {
      LogGeometry geometry =
          new LogGeometry(
              fields.heads(),
              fields.regionBytes(),
              fields.segmentBytes(),
              fields.regionsMax(),
              fields.slots());
      requireBuckets(geometry, fields.tables().buckets());
      if (fields.tables().resizing()) {
        requireBuckets(geometry, fields.tables().nextBuckets());
      }
      return new Superblock(
          fields.sequence(),
          fields.store(),
          geometry,
          fields.tables(),
          fields.hashSeed(),
          fields.promise(),
          fields.putMode());
    } catch (IllegalArgumentException e) {
      throw new ErdaException.Damaged("superblock is damaged: " + e.getMessage());
    }
  }

  private static void requireBuckets(LogGeometry geometry, long buckets) {
    new StoreGeometry(geometry, buckets);
  }
}
