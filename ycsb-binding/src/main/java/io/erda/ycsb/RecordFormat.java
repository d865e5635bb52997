package io.erda.ycsb;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;

/**
 * Encodes a YCSB record into one value, and back; see {@code FORMAT.md}. Its scratch memory is
 * reused, so it handles one record at a time. One thread.
 */
final class RecordFormat {
  static final byte FORMAT = 1;

  /** Thrown for bytes that are no record of this format. */
  static final class DamagedRecordException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    DamagedRecordException(String message) {
      super(message, null, false, false);
    }
  }

  /**
   * YCSB's iterator of random bytes fills in steps of six, and may write this many bytes beyond its
   * end in the array.
   */
  private static final int ITERATOR_OVERRUN = 6;

  private final FieldNames names = new FieldNames();
  private byte[] record = new byte[4096];
  private int length;

  // The position of the parser: the field that was read last.
  private byte[] parsed;
  private int parsedEnd;
  private int at;
  private int nameAt;
  private int nameLength;
  private int valueAt;
  private int valueLength;

  /** The encoded record: {@link #length} bytes from 0. Valid until the next encoding. */
  byte[] bytes() {
    return record;
  }

  int length() {
    return length;
  }

  /** Encodes all of {@code values}. */
  void encode(Map<String, ByteIterator> values) {
    begin(values.size());
    values.forEach(this::append);
  }

  /**
   * Encodes the record {@code old} with the fields in {@code values} replaced or added.
   *
   * @throws DamagedRecordException when {@code old} is no record; nothing is encoded then
   */
  void merge(byte[] old, int oldLength, Map<String, ByteIterator> values) {
    int kept = 0;
    int fields = open(old, oldLength);
    for (int i = 0; i < fields; i++) {
      nextField();
      kept += values.containsKey(fieldName()) ? 0 : 1;
    }
    requireEnd();
    begin(kept + values.size());
    open(old, oldLength);
    for (int i = 0; i < fields; i++) {
      nextField();
      if (!values.containsKey(fieldName())) {
        copyField();
      }
    }
    values.forEach(this::append);
  }

  /**
   * Puts the wanted fields of a record into {@code result}, as views of {@code from}, which the
   * caller must not change from now on.
   *
   * @param wanted field names, or null for all; names that the record lacks are ignored
   */
  void decode(byte[] from, int fromLength, Set<String> wanted, Map<String, ByteIterator> result) {
    int fields = open(from, fromLength);
    for (int i = 0; i < fields; i++) {
      nextField();
      String name = fieldName();
      if (wanted == null || wanted.contains(name)) {
        result.put(name, new ByteArrayByteIterator(from, valueAt, valueLength));
      }
    }
    requireEnd();
  }

  private void begin(int fields) {
    length = 0;
    room(6);
    record[length++] = FORMAT;
    putVarint(fields);
  }

  private void append(String name, ByteIterator value) {
    byte[] encodedName = names.encoded(name);
    long valueBytes = value.bytesLeft();
    if (valueBytes > Integer.MAX_VALUE / 2) {
      throw new IllegalArgumentException("field " + name + " has " + valueBytes + " bytes");
    }
    int count = (int) valueBytes;
    room(encodedName.length + count + 10 + ITERATOR_OVERRUN);
    putVarint(encodedName.length);
    System.arraycopy(encodedName, 0, record, length, encodedName.length);
    length += encodedName.length;
    putVarint(count);
    value.nextBuf(record, length);
    length += count;
  }

  private void copyField() {
    room(nameLength + valueLength + 10);
    putVarint(nameLength);
    System.arraycopy(parsed, nameAt, record, length, nameLength);
    length += nameLength;
    putVarint(valueLength);
    System.arraycopy(parsed, valueAt, record, length, valueLength);
    length += valueLength;
  }

  private void room(int bytes) {
    int needed = Math.addExact(length, bytes);
    if (needed > record.length) {
      record = Arrays.copyOf(record, Math.max(needed, record.length * 2));
    }
  }

  private void putVarint(int value) {
    int rest = value;
    while ((rest & ~0x7F) != 0) {
      record[length++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    record[length++] = (byte) rest;
  }

  /** Begins to parse; returns the number of fields. */
  private int open(byte[] from, int fromLength) {
    parsed = from;
    parsedEnd = fromLength;
    at = 0;
    if (fromLength < 2 || from[0] != FORMAT) {
      throw new DamagedRecordException(
          "not a YCSB record: "
              + fromLength
              + " bytes"
              + (fromLength > 0 ? ", format " + from[0] : ""));
    }
    at = 1;
    return getVarint();
  }

  private void nextField() {
    nameLength = getLength();
    nameAt = at;
    at += nameLength;
    valueLength = getLength();
    valueAt = at;
    at += valueLength;
  }

  private String fieldName() {
    return names.decoded(parsed, nameAt, nameLength);
  }

  private void requireEnd() {
    if (at != parsedEnd) {
      throw new DamagedRecordException(
          "not a YCSB record: " + (parsedEnd - at) + " bytes behind the last field");
    }
  }

  private int getLength() {
    int value = getVarint();
    if (value > parsedEnd - at) {
      throw new DamagedRecordException(
          "not a YCSB record: "
              + value
              + " bytes announced at "
              + at
              + ", "
              + (parsedEnd - at)
              + " left");
    }
    return value;
  }

  private int getVarint() {
    int value = 0;
    for (int shift = 0; shift < 35 && at < parsedEnd; shift += 7) {
      byte next = parsed[at++];
      value |= (next & 0x7F) << shift;
      if (next >= 0) {
        if (value < 0 || (shift == 28 && next > 7)) {
          break;
        }
        return value;
      }
    }
    throw new DamagedRecordException("not a YCSB record: bad length before " + at);
  }

  /** Interns field names, which are few and repeat: keeps their strings and bytes. */
  private static final class FieldNames {
    private static final int KEPT_MAX = 64;

    private final String[] strings = new String[KEPT_MAX];
    private final byte[][] encoded = new byte[KEPT_MAX][];
    private int count;
    private int last;

    byte[] encoded(String name) {
      for (int i = 0; i < count; i++) {
        if (strings[i].equals(name)) {
          return encoded[i];
        }
      }
      byte[] bytes = name.getBytes(UTF_8);
      keep(name, bytes);
      return bytes;
    }

    String decoded(byte[] from, int at, int length) {
      // Fields usually come in the same order as in the previous record, so the search begins after
      // the last hit.
      for (int i = 0; i < count; i++) {
        int candidate = (last + 1 + i) % count;
        if (Arrays.equals(
            encoded[candidate], 0, encoded[candidate].length, from, at, at + length)) {
          last = candidate;
          return strings[candidate];
        }
      }
      String name = new String(from, at, length, UTF_8);
      keep(name, Arrays.copyOfRange(from, at, at + length));
      return name;
    }

    private void keep(String name, byte[] bytes) {
      if (count < KEPT_MAX) {
        strings[count] = name;
        encoded[count] = bytes;
        last = count++;
      }
    }
  }
}
