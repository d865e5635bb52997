package io.erda.client.gets;

import static io.erda.pmem.UncheckedMemory.ADDRESS;
import static io.erda.pmem.UncheckedMemory.ALL;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.erda.client.connections.RegisteredMemory;
import io.erda.client.operations.CallersMemory;
import io.erda.client.operations.KeyText;
import io.erda.hashtable.Entry;
import io.erda.hashtable.KeyHash;
import io.erda.hashtable.Neighbourhood;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.pmem.MemoryGuard;
import io.erda.pmem.UncheckedMemory;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Protocol;
import io.erda.rdma.Device;
import io.erda.rdma.MemoryRegion;
import java.lang.foreign.MemorySegment;

/**
 * The memory of a get: the key, and the bytes that were READ. A get trusts only this copy, to which
 * no other thread stores.
 *
 * <p>Layout: {@code root 64 | neighbourhood 256 | that of the new table 256 | key 2048 | object}.
 * The object part grows on demand.
 *
 * <p>It is loaded by address, through {@link UncheckedMemory}, which is safe because all addresses
 * lie in {@link #own}: offsets are constants, or lengths that were compared with the copy's.
 */
final class PrivateCopy {
  // The offsets of the parts in the memory.
  static final int ROOT = 0;
  static final int NEIGHBOURHOOD = 64;
  static final int NEXT = NEIGHBOURHOOD + Neighbourhood.BYTES;
  private static final int KEY = NEXT + Neighbourhood.BYTES;
  static final int OBJECT = KEY + Protocol.KEY_BYTES_MAX;

  private static final int OBJECT_BYTES_MIN = 4096;

  private final Device device;

  /** Null until it is needed. The field keeps the memory reachable while its addresses are used. */
  private RegisteredMemory own;

  private static final MemoryGuard.Access<PrivateCopy, MemorySegment> TAKE_KEY =
      (copy, key, _, _, _, _) -> {
        copy.takeKey(key);
        return 0;
      };

  private final MemoryGuard faults = new MemoryGuard();
  private ObjectChecksum checksum;
  private long keyAt;

  /** The copy as the device's registered memory. */
  MemoryRegion region;

  /** How many bytes of an object the memory has room for. */
  int objectCapacity;

  // The addresses of the parts.
  long rootAt;
  long neighbourhoodAt;
  long nextAt;
  long objectAt;

  int keyLength;

  PrivateCopy(Device device) {
    this.device = device;
  }

  /** Makes the memory, with room for objects of {@code bytes} at first. */
  void prepare(int bytes) {
    if (own == null) {
      allocate(Math.max(OBJECT_BYTES_MIN, ObjectLayout.padded(bytes)));
    }
  }

  // The key.

  /** REQUIRES: the length is in range. */
  void key(byte[] key) {
    keyLength = key.length;
    assert isKeyInRange() : keyLength;
    MemorySegment.copy(key, 0, ALL, JAVA_BYTE, keyAt, key.length);
  }

  /**
   * REQUIRES: the length is in range.
   *
   * @throws ErdaException.BadArgument when the memory of the key is gone
   */
  void key(MemorySegment key) {
    keyLength = (int) key.byteSize();
    assert isKeyInRange() : keyLength;
    try {
      if (key.isMapped()) {
        if (faults.access(TAKE_KEY, this, key, 0, 0, 0, 0) == MemoryGuard.FAULT) {
          throw CallersMemory.missing(faults.fault(), "the key", key);
        }
      } else {
        takeKey(key);
      }
    } catch (IllegalStateException e) {
      throw CallersMemory.gone(e, "the key", key);
    }
  }

  private void takeKey(MemorySegment key) {
    long to = keyAt & ADDRESS;
    int last = keyLength - Long.BYTES;
    if (last < 0) {
      for (int at = 0; at < keyLength; at++) {
        ALL.set(JAVA_BYTE, to + at, key.get(JAVA_BYTE, at));
      }
    } else {
      for (int at = 0; at < last; at += Long.BYTES) {
        ALL.set(JAVA_LONG_UNALIGNED, to + at, key.get(JAVA_LONG_UNALIGNED, at));
      }
      ALL.set(JAVA_LONG_UNALIGNED, to + last, key.get(JAVA_LONG_UNALIGNED, last));
    }
  }

  /**
   * Whether the key's length is in range: it is stored by address, and a longer one would overwrite
   * the bytes behind it.
   */
  private boolean isKeyInRange() {
    return keyLength >= 1 && keyLength <= Protocol.KEY_BYTES_MAX;
  }

  long keyWord(KeyHash hash, int heads) {
    return Entry.keyWord(hash.ofNative(keyAt, keyLength), heads);
  }

  /** Copies the key to {@code base} of a message. */
  void copyKey(MemorySegment message, long base) {
    MemorySegment.copy(ALL, keyAt, message, base, keyLength);
  }

  /** The key in words, for messages. */
  String keyText() {
    return KeyText.of(own.segment, KEY, keyLength);
  }

  // The object.

  /**
   * Whether the object is whole and was written for this position. REQUIRES: {@code bytes} were
   * READ.
   */
  boolean isWhole(int bytes, int positionMix) {
    return checksum.compute(OBJECT, bytes, positionMix) == ObjectLayout.checksum(ALL, objectAt);
  }

  /**
   * Whether the object has the key. Compares words, of which the last may overlap the one before:
   * most keys are a few words long, and the general comparison costs as much as ten words.
   */
  boolean isKey() {
    long wanted = keyAt & ADDRESS;
    long object = objectAt & ADDRESS;
    int last = keyLength - Long.BYTES;
    if (ObjectLayout.keyLength(ALL, object) != keyLength) {
      return false;
    }
    long found = object + ObjectLayout.KEY_OFFSET;
    if (last < 0) {
      return isShortKey(wanted, found);
    }
    for (int at = 0; at < last; at += Long.BYTES) {
      if (ALL.get(JAVA_LONG_UNALIGNED, wanted + at) != ALL.get(JAVA_LONG_UNALIGNED, found + at)) {
        return false;
      }
    }
    return ALL.get(JAVA_LONG_UNALIGNED, wanted + last)
        == ALL.get(JAVA_LONG_UNALIGNED, found + last);
  }

  private boolean isShortKey(long wanted, long found) {
    for (int at = 0; at < keyLength; at++) {
      if (ALL.get(JAVA_BYTE, wanted + at) != ALL.get(JAVA_BYTE, found + at)) {
        return false;
      }
    }
    return true;
  }

  /** Copies the value. REQUIRES: the object is whole, and its value has {@code length} bytes. */
  void copyValue(byte[] into, long length) {
    assert holdsValue(length) : length;
    MemorySegment.copy(ALL, JAVA_BYTE, objectAt + valueOffset(), into, 0, (int) length);
  }

  /**
   * Copies the value. REQUIRES: as {@link #copyValue(byte[], long)}, and {@code into} is long
   * enough.
   *
   * @throws ErdaException.BadArgument when the memory of {@code into} is gone
   */
  void copyValue(MemorySegment into, long length) {
    assert holdsValue(length) : length;
    CallersMemory.copy(ALL, objectAt + valueOffset(), into, length, "the segment for the value");
  }

  private boolean holdsValue(long length) {
    return length >= 0 && valueOffset() + length <= objectCapacity;
  }

  private long valueOffset() {
    return (long) ObjectLayout.KEY_OFFSET + keyLength;
  }

  /** The memory, for a handler that reads the value. */
  MemorySegment memory() {
    return own.segment;
  }

  /** Where the value begins in {@link #memory}. */
  long valueAt() {
    return OBJECT + valueOffset();
  }

  // The memory of the copy.

  /**
   * Makes room for an object of {@code bytes}, of which the first {@code kept} are here already.
   * REQUIRES: no READ into the memory is outstanding.
   */
  void grow(int bytes, int kept) {
    RegisteredMemory old = own;
    allocate(Integer.highestOneBit(Math.max(bytes, 2) - 1) << 1);
    MemorySegment.copy(old.segment, 0, own.segment, 0, OBJECT + kept);
    old.release();
  }

  private void allocate(int bytes) {
    RegisteredMemory made = new RegisteredMemory(device, OBJECT + (long) bytes);
    ObjectChecksum madeChecksum = new ObjectChecksum(made.segment);
    long address = made.segment.address();
    // Nothing is called from here on, so an Error, of a full heap for example, leaves the fields as
    // they were.
    own = made;
    objectCapacity = bytes;
    rootAt = address + ROOT;
    neighbourhoodAt = address + NEIGHBOURHOOD;
    nextAt = address + NEXT;
    keyAt = address + KEY;
    objectAt = address + OBJECT;
    region = made.region;
    checksum = madeChecksum;
  }

  /** REQUIRES: the queue pair is closed. */
  void release() {
    if (own != null) {
      own.release();
      own = null;
    }
  }
}
