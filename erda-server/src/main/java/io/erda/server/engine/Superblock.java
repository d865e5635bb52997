package io.erda.server.engine;

import io.erda.logstore.LogGeometry;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import io.erda.protocol.Protocol;
import io.erda.protocol.PutMode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * What a store is. Two copies, 4 KiB apart, written one after the other with rising sequence
 * numbers: a torn write leaves the other one, and so does a damaged page. Little-endian.
 *
 * <pre>
 *   0  magic "ERDASUPR" 8 | 8  layout version 4 | 12  zero 4 | 16  sequence 8 | 24  store UUID 16
 *  40  heads 4 | 44  segment bytes 4 | 48  region bytes 8 | 56  regions max 4 | 60  table generation 4
 *  64  buckets 8 | 72  hash seed 8 | 80  doubling 4 | 84  promise 4
 *  88  put mode 4 | 92  zero 24 | 116  CRC32C of bytes 0 … 115, 4
 * </pre>
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
  static final long BYTES = 8192;

  private static final long COPY_BYTES = 4096;
  private static final long MAGIC = 0x5250_5553_4144_5245L;
  private static final int CHECKSUM_OFFSET = 116;

  // What stands for a promise; 0 for PROCESS.
  private static final int POWER = 1;
  private static final int ATOMIC = 2;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

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
    MemorySegment bytes = MemorySegment.ofArray(new long[(CHECKSUM_OFFSET + 4) / 8]);
    bytes.set(LONG, 0, MAGIC);
    bytes.set(INT, 8, Protocol.LAYOUT_VERSION);
    bytes.set(LONG, 16, copySequence);
    bytes.set(LONG, 24, store.getMostSignificantBits());
    bytes.set(LONG, 32, store.getLeastSignificantBits());
    bytes.set(INT, 40, geometry.heads());
    bytes.set(INT, 44, geometry.segmentBytes());
    bytes.set(LONG, 48, geometry.regionBytes());
    bytes.set(INT, 56, geometry.regionsMax());
    bytes.set(INT, 60, tableGeneration);
    bytes.set(LONG, 64, buckets);
    bytes.set(LONG, 72, hashSeed);
    bytes.set(INT, 80, doubling ? 1 : 0);
    bytes.set(
        INT,
        84,
        switch (promise) {
          case POWER -> POWER;
          case PROCESS -> 0;
          case ATOMIC -> ATOMIC;
        });
    bytes.set(INT, 88, putMode.code());
    bytes.set(INT, CHECKSUM_OFFSET, checksum(bytes, 0));
    long at = (copySequence & 1) * COPY_BYTES;
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
    if (memory.segment().byteSize() < BYTES) {
      throw new ErdaException.Damaged(
          "superblock is " + memory.segment().byteSize() + " bytes long, not " + BYTES);
    }
    Superblock even = loadCopy(memory.segment(), 0);
    Superblock odd = loadCopy(memory.segment(), COPY_BYTES);
    if (even == null && odd == null) {
      requireVersion(memory.segment(), 0);
      requireVersion(memory.segment(), COPY_BYTES);
      throw new ErdaException.Damaged(
          "superblock is damaged: the checksums of both copies are wrong");
    }
    return odd == null || (even != null && even.sequence > odd.sequence) ? even : odd;
  }

  private static Superblock loadCopy(MemorySegment memory, long at) {
    if (memory.get(LONG, at) != MAGIC) {
      return null;
    }
    if (memory.get(INT, at + 8) != Protocol.LAYOUT_VERSION
        || memory.get(INT, at + CHECKSUM_OFFSET) != checksum(memory, at)) {
      return null;
    }
    try {
      LogGeometry geometry =
          new LogGeometry(
              memory.get(INT, at + 40),
              memory.get(LONG, at + 48),
              memory.get(INT, at + 44),
              memory.get(INT, at + 56));
      StoreGeometry store = new StoreGeometry(geometry, memory.get(LONG, at + 64));
      return new Superblock(
          memory.get(LONG, at + 16),
          new UUID(memory.get(LONG, at + 24), memory.get(LONG, at + 32)),
          geometry,
          memory.get(INT, at + 60),
          store.buckets(),
          memory.get(LONG, at + 72),
          memory.get(INT, at + 80) != 0,
          promise(memory.get(INT, at + 84)),
          putMode(memory.get(INT, at + 88)));
    } catch (IllegalArgumentException e) {
      throw new ErdaException.Damaged("superblock is damaged: " + e.getMessage());
    }
  }

  /** A promise that this program does not know must not be broken by it. */
  private static Promise promise(int code) {
    return switch (code) {
      case 0 -> Promise.PROCESS;
      case POWER -> Promise.POWER;
      case ATOMIC -> Promise.ATOMIC;
      default ->
          throw new ErdaException.Unusable(
              "superblock records promise " + code + ", which this program does not know");
    };
  }

  /** Who puts in a way that this program does not know would be misread by it. */
  private static PutMode putMode(int code) {
    PutMode mode = PutMode.ofCode(code);
    if (mode == null) {
      throw new ErdaException.Unusable(
          "superblock records put mode " + code + ", which this program does not know");
    }
    return mode;
  }

  /** Another version may keep its checksum elsewhere, so it is asked for without one. */
  private static void requireVersion(MemorySegment memory, long at) {
    int version = memory.get(INT, at + 8);
    if (memory.get(LONG, at) == MAGIC && version != Protocol.LAYOUT_VERSION) {
      throw new ErdaException.Unusable(
          "store has layout version "
              + version
              + ", this program reads layout version "
              + Protocol.LAYOUT_VERSION);
    }
  }

  private static int checksum(MemorySegment memory, long at) {
    CRC32C crc = new CRC32C();
    crc.update(memory.asSlice(at, CHECKSUM_OFFSET).toArray(ValueLayout.JAVA_BYTE));
    return (int) crc.getValue();
  }
}
