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
 * The description of a store. It is stored in two copies, one after the other ({@link
 * SuperblockLayout}), so that one copy stays whole after a torn write or when a page is damaged.
 *
 * @param sequence sequence number of the newest copy
 * @param tables the hash tables, and whether one is being resized
 * @param promise what every put that the store acknowledged survives: {@link Promise#PROCESS} or
 *     {@link Promise#POWER}; {@link Promise#ATOMIC} when puts are announced first
 * @param putMode fixed when the store was created
 */
public record Superblock(
    long sequence,
    UUID store,
    LogGeometry geometry,
    StoreTables tables,
    long hashSeed,
    Promise promise,
    PutMode putMode) {
  /** The length in bytes of the memory for both copies. */
  public static final long BYTES = SuperblockLayout.BYTES;

  /** The next superblock, with other tables. */
  public Superblock withTables(StoreTables now) {
    return new Superblock(sequence + 1, store, geometry, now, hashSeed, promise, putMode);
  }

  /** The next superblock, with the same content. */
  public Superblock again() {
    return withTables(tables);
  }

  /** The next superblock, with another promise. */
  public Superblock withPromise(Promise kept) {
    return new Superblock(sequence + 1, store, geometry, tables, hashSeed, kept, putMode);
  }

  /** The next superblock, with another number of regions and slots of the log. */
  Superblock withGeometry(LogGeometry other) {
    return new Superblock(sequence + 1, store, other, tables, hashSeed, promise, putMode);
  }

  /** This superblock as it would be loaded after {@link #store}. */
  public Superblock stored() {
    return again();
  }

  /** Stores both copies, making each durable before the next is changed. */
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
   * Loads the newest whole copy.
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
