package io.erda.logstore;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * The common fields of the headers of the region table and of regions: magic, layout version,
 * checksum at 12, UUID at 16.
 */
final class HeaderFields {
  static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int CHECKSUM_OFFSET = 12;

  static void putUuid(MemorySegment header, long offset, UUID uuid) {
    header.set(LONG, offset, uuid.getMostSignificantBits());
    header.set(LONG, offset + 8, uuid.getLeastSignificantBits());
  }

  static UUID uuid(MemorySegment header, long offset) {
    return new UUID(header.get(LONG, offset), header.get(LONG, offset + 8));
  }

  static void putChecksum(MemorySegment header, int bytes) {
    header.set(INT, CHECKSUM_OFFSET, checksum(header, bytes));
  }

  static int checksum(MemorySegment header, int bytes) {
    byte[] copy = header.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
    MemorySegment.ofArray(copy).set(INT, CHECKSUM_OFFSET, 0);
    CRC32C crc = new CRC32C();
    crc.update(copy);
    return (int) crc.getValue();
  }

  static void check(
      String what, MemorySegment header, int bytes, long magic, int version, UUID store) {
    if (header.get(LONG, 0) != magic) {
      throw new DamagedLogException(
          what
              + ": magic is 0x"
              + Long.toHexString(header.get(LONG, 0))
              + ", must be 0x"
              + Long.toHexString(magic));
    }
    if (header.get(INT, 8) != version) {
      throw new DamagedLogException(
          what + ": layout version is " + header.get(INT, 8) + ", this program's is " + version);
    }
    int checksum = checksum(header, bytes);
    if (header.get(INT, CHECKSUM_OFFSET) != checksum) {
      throw new DamagedLogException(
          what
              + ": checksum is 0x"
              + Integer.toHexString(header.get(INT, CHECKSUM_OFFSET))
              + ", its bytes give 0x"
              + Integer.toHexString(checksum));
    }
    if (!uuid(header, 16).equals(store)) {
      throw new DamagedLogException(
          what + ": belongs to store " + uuid(header, 16) + ", not to " + store);
    }
  }

  private HeaderFields() {}
}
