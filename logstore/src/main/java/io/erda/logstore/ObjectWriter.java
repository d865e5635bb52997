package io.erda.logstore;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Builds objects in one buffer, from which a WRITE or {@code PersistentMemory.put} copies them to
 * their place. The place must agree with {@code base} mod 8, so that the copy tears no word. One
 * thread; allocates nothing after construction. Borrows the buffer.
 */
public final class ObjectWriter {
  private final MemorySegment buffer;
  private final ObjectChecksum checksum;

  /** Builds objects in a native, mapped or {@code byte[]} segment of less than 2 GiB. */
  public ObjectWriter(MemorySegment buffer) {
    this.buffer = buffer;
    this.checksum = new ObjectChecksum(buffer);
  }

  /**
   * Builds an object at {@code base}, padded with zeros.
   *
   * @param base the offset in the buffer, a multiple of 8
   * @param keyLength 1 to {@link ObjectLayout#KEY_BYTES_MAX}
   * @param value not read when {@code valueLength} is 0; may be null then
   * @param valueLength 0 to {@link ObjectLayout#VALUE_BYTES_MAX}; 0 for a tombstone
   * @param positionMix the mix of the place that the object is meant for: {@link
   *     ObjectChecksum#positionMix}
   * @return bytes stored, a multiple of 8
   * @throws IllegalArgumentException when a length is out of range
   * @throws IndexOutOfBoundsException when the buffer is too short
   */
  public int write(
      long base,
      MemorySegment key,
      long keyOffset,
      int keyLength,
      MemorySegment value,
      long valueOffset,
      int valueLength,
      boolean tombstone,
      int positionMix) {
    requireLengths(keyLength, valueLength, tombstone);
    int bytes = ObjectLayout.bytes(keyLength, valueLength);
    int padded = ObjectLayout.padded(bytes);
    // The last word is zeroed first: the padding stays zero.
    buffer.set(ValueLayout.JAVA_LONG_UNALIGNED, base + padded - Long.BYTES, 0);
    ObjectLayout.putHeader(buffer, base, keyLength, valueLength, tombstone);
    MemorySegment.copy(key, keyOffset, buffer, base + ObjectLayout.KEY_OFFSET, keyLength);
    if (valueLength != 0) {
      MemorySegment.copy(
          value, valueOffset, buffer, base + ObjectLayout.KEY_OFFSET + keyLength, valueLength);
    }
    ObjectLayout.putChecksum(buffer, base, checksum.compute(base, bytes, positionMix));
    return padded;
  }

  private static void requireLengths(int keyLength, int valueLength, boolean tombstone) {
    if (keyLength < 1 || keyLength > ObjectLayout.KEY_BYTES_MAX) {
      throw new IllegalArgumentException(
          "key of " + keyLength + " bytes, must be 1 to " + ObjectLayout.KEY_BYTES_MAX);
    }
    if (valueLength < 0 || valueLength > ObjectLayout.VALUE_BYTES_MAX) {
      throw new IllegalArgumentException(
          "value of " + valueLength + " bytes, must be 0 to " + ObjectLayout.VALUE_BYTES_MAX);
    }
    if (tombstone && valueLength != 0) {
      throw new IllegalArgumentException("a tombstone has no value: " + valueLength + " bytes");
    }
  }
}
