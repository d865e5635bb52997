package io.erda.ycsb;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Builds Erda's key of a YCSB table and key; see {@code FORMAT.md}. The bytes are reused by the
 * next key. One thread.
 */
final class RecordKey {
  private final boolean withTable;
  private String table;
  private int prefixLength;
  private byte[] bytes = new byte[256];
  private MemorySegment segment = MemorySegment.ofArray(bytes);

  RecordKey(boolean withTable) {
    this.withTable = withTable;
  }

  /** The key's bytes, valid until the next call. */
  MemorySegment of(String tableName, String key) {
    if (withTable && !tableName.equals(table)) {
      useTable(tableName);
    }
    byte[] encoded = key.getBytes(UTF_8);
    int length = prefixLength + encoded.length;
    if (length > bytes.length) {
      bytes = Arrays.copyOf(bytes, length * 2);
      segment = MemorySegment.ofArray(bytes);
    }
    System.arraycopy(encoded, 0, bytes, prefixLength, encoded.length);
    return segment.asSlice(0, length);
  }

  private void useTable(String tableName) {
    byte[] encoded = tableName.getBytes(UTF_8);
    if (encoded.length + 1 > bytes.length) {
      bytes = Arrays.copyOf(bytes, encoded.length * 2);
      segment = MemorySegment.ofArray(bytes);
    }
    System.arraycopy(encoded, 0, bytes, 0, encoded.length);
    bytes[encoded.length] = 0;
    prefixLength = encoded.length + 1;
    table = tableName;
  }
}
