package io.erda.protocol;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * The beginning of the record that a server writes when it is stopped cleanly. Little-endian;
 * checksums of the files that the store had then follow.
 *
 * <pre>
 *   0  magic "ERDASTOP" 8 | 8  layout version 4 | 12  CRC32C of the whole file, this field as 0, 4
 *  16  store UUID 16 | 32  incarnation of the root 8 | 40  (more)
 * </pre>
 */
public final class StopHeader {
  /** The name of the record's file. */
  public static final String FILE = "stopped";

  public static final long MAGIC = 0x504F_5453_4144_5245L; // "ERDASTOP"
  public static final int LAYOUT_VERSION = 1;

  /** Bytes before the part of the first file. */
  public static final int BYTES = 64;

  public static final int VERSION_OFFSET = 8;
  public static final int CHECKSUM_OFFSET = 12;
  public static final int STORE_OFFSET = 16;
  public static final int INCARNATION_OFFSET = 32;

  private static final int STEP = 4096;

  static {
    assert CHECKSUM_OFFSET + Integer.BYTES == STORE_OFFSET
            && STORE_OFFSET + 2 * Long.BYTES == INCARNATION_OFFSET
            && INCARNATION_OFFSET + Long.BYTES <= BYTES
            && BYTES <= STEP
        : "the fields of a header follow each other, in the first step of the checksum";
  }

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /**
   * Returns in words why a record does not describe a store; null when the last server of the store
   * wrote the record.
   *
   * @param record the whole file
   * @param incarnation the incarnation in the store's root
   */
  public static String useless(MemorySegment record, UUID store, long incarnation) {
    if (record.byteSize() < BYTES || record.get(LONG, 0) != MAGIC) {
      return "is not what a server writes when it stops";
    }
    if (record.get(INT, VERSION_OFFSET) != LAYOUT_VERSION) {
      return "has layout version %d, this program reads layout version %d"
          .formatted(record.get(INT, VERSION_OFFSET), LAYOUT_VERSION);
    }
    if (record.get(INT, CHECKSUM_OFFSET) != checksum(record)) {
      return "is damaged: its checksum is wrong";
    }
    UUID its = new UUID(record.get(LONG, STORE_OFFSET), record.get(LONG, STORE_OFFSET + 8));
    if (!its.equals(store)) {
      return "is of store " + its;
    }
    long said = record.get(LONG, INCARNATION_OFFSET);
    return said < incarnation
        ? "is of incarnation %d, and the store has had %d".formatted(said, incarnation)
        : null;
  }

  /** The checksum that the field of an undamaged record holds. */
  public static int checksum(MemorySegment record) {
    CRC32C crc = new CRC32C();
    for (long at = 0; at < record.byteSize(); at += STEP) {
      byte[] part =
          record.asSlice(at, Math.min(STEP, record.byteSize() - at)).toArray(ValueLayout.JAVA_BYTE);
      if (at == 0) {
        Arrays.fill(part, CHECKSUM_OFFSET, CHECKSUM_OFFSET + 4, (byte) 0);
      }
      crc.update(part);
    }
    return (int) crc.getValue();
  }

  private StopHeader() {}
}
