package io.erda.launcher.backup;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The file of a backup. Everything is little-endian.
 *
 * <pre>
 *   0  magic "ERDABACK" 8 | 8  version 4 | 12  CRC32C of the rest of the header 4
 *  16  store UUID 16 | 32  when it began, milliseconds since 1970 8
 *  40  longest key of the store 4 | 44  longest value of the store 4 | 48  zeros 16
 *      then for each key: length of the key 4 | length of the value 4 | CRC32C 4 | key | value
 *      at the end: 0 4 | 0 4 | CRC32C 4, and nothing behind it
 * </pre>
 *
 * The CRC32C of a record is that of its number (from 0, 8), both lengths, key and value: so a
 * missing, repeated or moved record is detected. No key is empty, so a length of 0 marks the end,
 * whose number is the number of keys.
 */
final class BackupFormat {
  static final long MAGIC = 0x4b43_4142_4144_5245L; // "ERDABACK"
  static final int VERSION = 1;
  static final int HEADER_BYTES = 64;
  static final int CHECKSUM_OFFSET = 12;
  static final int STORE_OFFSET = 16;
  static final int BEGAN_OFFSET = 32;
  static final int KEY_MAX_OFFSET = 40;
  static final int VALUE_MAX_OFFSET = 44;
  static final int RECORD_HEADER_BYTES = 12;

  static ByteBuffer over(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  static int headerChecksum(ByteBuffer header) {
    CRC32C checksum = new CRC32C();
    checksum.update(header.slice(STORE_OFFSET, HEADER_BYTES - STORE_OFFSET));
    return (int) checksum.getValue();
  }

  /** Computes the checksums of records. */
  static final class RecordChecksum {
    private final CRC32C checksum = new CRC32C();
    private final ByteBuffer numbers = over(new byte[16]);

    int of(long number, byte[] key, byte[] value) {
      checksum.reset();
      numbers.putLong(0, number).putInt(8, key.length).putInt(12, value.length);
      checksum.update(numbers.clear());
      checksum.update(key, 0, key.length);
      checksum.update(value, 0, value.length);
      return (int) checksum.getValue();
    }
  }

  private BackupFormat() {}
}
