package io.erda.protocol;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * The layout of a superblock, which describes a store. It has two copies, 4 KiB apart, which are
 * written one after the other with rising sequence numbers; copy = sequence mod 2. Little-endian.
 *
 * <pre>
 *   0  magic "ERDASUPR" 8 | 8  layout version 4 | 12  zero 4 | 16  sequence 8 | 24  store UUID 16
 *  40  heads 4 | 44  segment bytes 4 | 48  region bytes 8 | 56  regions max 4 | 60  table generation 4
 *  64  buckets 8 | 72  hash seed 8 | 80  resized 4 | 84  promise 4
 *  88  put mode 4 | 92  next table generation 4 | 96  tables made 4 | 100  slots 4
 * 104  buckets at least 8 | 112  zero 4 | 116  CRC32C of bytes 0 … 115, 4
 * </pre>
 *
 * <p>Layout version 2 had zeros from 92 on: its tables were only doubled, into the table with the
 * next number. It can still be read; only the current version is stored.
 */
public final class SuperblockLayout {
  /** The name of its file. */
  public static final String FILE = "superblock";

  /** The beginning of the names of the tables' files. */
  public static final String TABLE_PREFIX = "table-";

  /** The length in bytes of the memory with both copies. */
  public static final long BYTES = 8192;

  /** The distance in bytes between the beginnings of the copies. */
  public static final long COPY_STRIDE = 4096;

  /** Bytes of one copy, a multiple of 8. */
  public static final int COPY_BYTES = 120;

  static {
    assert 2 * COPY_STRIDE == BYTES && COPY_BYTES <= COPY_STRIDE && COPY_BYTES % Long.BYTES == 0
        : "two copies of " + COPY_BYTES + " bytes in " + BYTES;
  }

  private static final long MAGIC = 0x5250_5553_4144_5245L;
  private static final int CHECKSUM_OFFSET = 116;

  /** The layout version before tables were halved. */
  private static final int VERSION_DOUBLED_ONLY = 2;

  /** The least number of buckets of a halved table when the superblock does not record a limit. */
  private static final long BUCKETS_LEAST_UNTOLD = 1 << 18;

  // Codes of promises; 0 is PROCESS.
  private static final int POWER = 1;
  private static final int ATOMIC = 2;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /**
   * The contents of one copy.
   *
   * @param regionsMax the most regions that the store may have
   * @param slots records of its region table, where the capacity was changed; 0: {@code regionsMax}
   * @param tables its tables, and whether entries are moved between them
   * @param promise the failure that every acknowledged put survives
   * @param putMode how objects come to be versions of their keys
   */
  public record Fields(
      long sequence,
      UUID store,
      int heads,
      int segmentBytes,
      long regionBytes,
      int regionsMax,
      int slots,
      StoreTables tables,
      long hashSeed,
      Promise promise,
      PutMode putMode) {}

  /** The name of the file of the table of a generation. */
  public static String table(int generation) {
    return TABLE_PREFIX + generation;
  }

  /** Returns the offset in the memory of the copy with this sequence number. */
  public static long copyAt(long sequence) {
    return (sequence & 1) * COPY_STRIDE;
  }

  /** The bytes of one copy, {@link #COPY_BYTES}. */
  public static MemorySegment encode(Fields fields) {
    MemorySegment bytes = MemorySegment.ofArray(new long[COPY_BYTES / Long.BYTES]);
    bytes.set(LONG, 0, MAGIC);
    bytes.set(INT, 8, Protocol.LAYOUT_VERSION);
    bytes.set(LONG, 16, fields.sequence());
    bytes.set(LONG, 24, fields.store().getMostSignificantBits());
    bytes.set(LONG, 32, fields.store().getLeastSignificantBits());
    bytes.set(INT, 40, fields.heads());
    bytes.set(INT, 44, fields.segmentBytes());
    bytes.set(LONG, 48, fields.regionBytes());
    bytes.set(INT, 56, fields.regionsMax());
    bytes.set(INT, 60, fields.tables().generation());
    bytes.set(LONG, 64, fields.tables().buckets());
    bytes.set(LONG, 72, fields.hashSeed());
    bytes.set(INT, 80, fields.tables().code());
    bytes.set(
        INT,
        84,
        switch (fields.promise()) {
          case POWER -> POWER;
          case PROCESS -> 0;
          case ATOMIC -> ATOMIC;
        });
    bytes.set(INT, 88, fields.putMode().code());
    bytes.set(INT, 92, fields.tables().nextGeneration());
    bytes.set(INT, 96, fields.tables().made());
    bytes.set(INT, 100, fields.slots());
    bytes.set(LONG, 104, fields.tables().bucketsLeast());
    assert CHECKSUM_OFFSET + Integer.BYTES == COPY_BYTES : "the checksum ends a copy";
    bytes.set(INT, CHECKSUM_OFFSET, checksum(bytes, 0));
    assert fields.equals(decode(bytes, 0)) : fields + " reads as " + decode(bytes, 0);
    return bytes;
  }

  /**
   * Returns the contents of the newest whole copy. REQUIRES: no process stores to the memory during
   * the call. A reader beside a running server first makes a private copy of the memory.
   *
   * @throws ErdaException.Unusable for a store of another version, or with a promise or put mode
   *     that this program does not know
   * @throws ErdaException.Damaged when neither copy is whole
   */
  public static Fields newest(MemorySegment memory) {
    if (memory.byteSize() < BYTES) {
      throw new ErdaException.Damaged(
          "superblock is " + memory.byteSize() + " bytes long, not " + BYTES);
    }
    Fields even = decode(memory, 0);
    Fields odd = decode(memory, COPY_STRIDE);
    if (even == null && odd == null) {
      requireVersion(memory, 0);
      requireVersion(memory, COPY_STRIDE);
      throw new ErdaException.Damaged(
          "superblock is damaged: the checksums of both copies are wrong");
    }
    return odd == null || (even != null && even.sequence > odd.sequence) ? even : odd;
  }

  private static Fields decode(MemorySegment memory, long at) {
    if (memory.get(LONG, at) != MAGIC
        || !isRead(memory.get(INT, at + 8))
        || memory.get(INT, at + CHECKSUM_OFFSET) != checksum(memory, at)) {
      return null;
    }
    return new Fields(
        memory.get(LONG, at + 16),
        new UUID(memory.get(LONG, at + 24), memory.get(LONG, at + 32)),
        memory.get(INT, at + 40),
        memory.get(INT, at + 44),
        memory.get(LONG, at + 48),
        memory.get(INT, at + 56),
        memory.get(INT, at + 8) == Protocol.LAYOUT_VERSION ? memory.get(INT, at + 100) : 0,
        tables(memory, at),
        memory.get(LONG, at + 72),
        promise(memory.get(INT, at + 84)),
        putMode(memory.get(INT, at + 88)));
  }

  private static boolean isRead(int version) {
    return version == Protocol.LAYOUT_VERSION || version == VERSION_DOUBLED_ONLY;
  }

  /** Whether both copies have the current layout version. */
  public static boolean isOfToday(MemorySegment memory) {
    return memory.get(INT, 8) == Protocol.LAYOUT_VERSION
        && memory.get(INT, COPY_STRIDE + 8) == Protocol.LAYOUT_VERSION;
  }

  private static StoreTables tables(MemorySegment memory, long at) {
    int generation = memory.get(INT, at + 60);
    long buckets = memory.get(LONG, at + 64);
    int code = memory.get(INT, at + 80);
    long nextBuckets = StoreTables.nextBuckets(code, buckets);
    if (memory.get(INT, at + 8) == VERSION_DOUBLED_ONLY) {
      int next = nextBuckets == 0 ? 0 : generation + 1;
      return new StoreTables(
          generation,
          buckets,
          next,
          nextBuckets,
          Math.max(generation, next),
          Math.min(buckets, BUCKETS_LEAST_UNTOLD));
    }
    return new StoreTables(
        generation,
        buckets,
        memory.get(INT, at + 92),
        nextBuckets,
        memory.get(INT, at + 96),
        memory.get(LONG, at + 104));
  }

  /**
   * Returns the promise with a code. Throws for a promise that this program does not know, because
   * the program could break it.
   */
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

  /**
   * Returns the put mode with a code. Throws for a mode that this program does not know, because
   * the program would misread such puts.
   */
  private static PutMode putMode(int code) {
    PutMode mode = PutMode.ofCode(code);
    if (mode == null) {
      throw new ErdaException.Unusable(
          "superblock records put mode " + code + ", which this program does not know");
    }
    return mode;
  }

  /**
   * Checks the version without checking the checksum, because in another version the checksum may
   * have another place.
   */
  private static void requireVersion(MemorySegment memory, long at) {
    int version = memory.get(INT, at + 8);
    if (memory.get(LONG, at) == MAGIC && !isRead(version)) {
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

  private SuperblockLayout() {}
}
