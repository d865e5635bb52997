package io.erda.client.puts;

import io.erda.client.connections.ClientContext;
import io.erda.client.connections.KnownStore;
import io.erda.client.connections.RegisteredMemory;
import io.erda.client.operations.CallersMemory;
import io.erda.client.operations.KeyText;
import io.erda.hashtable.Entry;
import io.erda.hashtable.ValueHash;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.ObjectWriter;
import io.erda.pmem.MemoryGuard;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Message;
import io.erda.protocol.Root;
import io.erda.rdma.MemoryRegion;
import java.lang.foreign.MemorySegment;

/**
 * The object of a put or a delete, built once in separate registered memory, and the condition of
 * the put. The memory is reused for the next put of the slot.
 */
final class PutObject {
  /** The offset of the object in its memory. */
  static final int AT = 0;

  private static final int CAPACITY_MIN = 4096;

  private static final MemoryGuard.Access<ValueHash, MemorySegment> HASH =
      (hash, expected, length, _, _, _) -> {
        hash.compute(expected, 0, length);
        return 0;
      };

  private final ClientContext context;
  private final MemoryGuard faults = new MemoryGuard();
  private final ValueHash valueHash = new ValueHash();
  private RegisteredMemory own;
  private ObjectWriter writer;
  private int capacity;

  /** The key and the value of the caller while they are copied; null otherwise. */
  private MemorySegment callersKey;

  private MemorySegment callersValue;

  /** Null before the first object. */
  MemorySegment memory;

  MemoryRegion region;
  boolean delete;

  /** Length in bytes, with padding. */
  int padded;

  /** Length in bytes, without padding. */
  int bytes;

  int keyLength;
  int valueLength;

  /** The condition of the put: 0 for none, or one of {@link Message}'s flags. */
  int condition;

  /** The length and hash of the expected value, if the put has one. */
  private int expectedLength;

  private long expectedLow;
  private long expectedHigh;

  /** The checksum, before the position is mixed in. */
  private int crc;

  private long keyWord;

  PutObject(ClientContext context) {
    this.context = context;
  }

  /**
   * Builds the object. REQUIRES: the lengths are in range. {@code value} is null for a delete.
   *
   * @throws ErdaException.BadArgument when the caller's memory is gone
   */
  void build(MemorySegment key, MemorySegment value) {
    keyLength = (int) key.byteSize();
    valueLength = value == null ? 0 : (int) value.byteSize();
    delete = value == null;
    condition = 0;
    keyWord = 0;
    bytes = ObjectLayout.bytes(keyLength, valueLength);
    ensureCapacity(ObjectLayout.padded(bytes));
    // The position is not known yet, so the position mix is 0. The checksum for a position is this
    // checksum xor the mix of the position (ObjectLayout).
    callersKey = key;
    callersValue = value;
    try {
      if (!faults.attempt(this, PutObject::write)) {
        throw CallersMemory.missing(faults.fault(), "the key or the value", key, value);
      }
    } catch (IllegalStateException e) {
      throw CallersMemory.gone(e, "the key or the value", key, value);
    } finally {
      callersKey = null;
      callersValue = null;
    }
  }

  private void write() {
    padded = writer.write(AT, callersKey, 0, keyLength, callersValue, 0, valueLength, delete, 0);
    crc = ObjectLayout.checksum(memory, AT);
  }

  /** As {@link #build}, on the condition that the key has no value. */
  void buildIfAbsent(MemorySegment key, MemorySegment value) {
    build(key, value);
    condition = Message.FLAG_IF_ABSENT;
  }

  /** As {@link #build}, on the condition that the key has this value. */
  void buildIfEqual(MemorySegment key, MemorySegment expected, MemorySegment value) {
    build(key, value);
    condition = Message.FLAG_IF_EQUAL;
    expectedLength = Math.toIntExact(expected.byteSize());
    try {
      if (faults.access(HASH, valueHash, expected, expectedLength, 0, 0, 0) == MemoryGuard.FAULT) {
        throw CallersMemory.missing(faults.fault(), "the expected value", expected);
      }
    } catch (IllegalStateException e) {
      throw CallersMemory.gone(e, "the expected value", expected);
    }
    expectedLow = valueHash.low();
    expectedHigh = valueHash.high();
  }

  /** Mixes the object's place into its checksum. */
  void placeAt(int head, int generation, int offset) {
    ObjectLayout.putChecksum(
        memory, AT, crc ^ ObjectChecksum.positionMix(head, generation, offset));
  }

  /** REQUIRES: the client was connected once, so the hash is known. */
  long keyWord() {
    if (keyWord == 0) {
      KnownStore store = context.store();
      keyWord =
          Entry.keyWord(
              store.keyHash.of(memory, AT + ObjectLayout.KEY_OFFSET, keyLength), store.heads);
    }
    return keyWord;
  }

  /** The flags of a request. */
  int flags() {
    return condition | (delete ? Message.FLAG_DELETE : 0);
  }

  /** Stores the length and hash of the expected value into a request. */
  void putExpected(MemorySegment message, long lengthAt) {
    long hash = lengthAt + 2 * Integer.BYTES;
    Message.putInt(message, lengthAt, expectedLength);
    Message.putInt(message, lengthAt + Integer.BYTES, 0);
    Message.putLong(message, hash, expectedLow);
    Message.putLong(message, hash + Long.BYTES, expectedHigh);
  }

  /** Stores the key's length and the key into a request. */
  void putKey(MemorySegment message, long lengthAt, long keyAt) {
    Message.putInt(message, lengthAt, keyLength);
    Message.putInt(message, lengthAt + Integer.BYTES, 0);
    MemorySegment.copy(memory, AT + ObjectLayout.KEY_OFFSET, message, keyAt, keyLength);
  }

  /**
   * Returns the offset in {@link #memory} of the space for a copy of the root. No object overlaps
   * this space, because a READ into it may still land when the next object is being built.
   */
  long rootAt() {
    return capacity;
  }

  String describe() {
    return (condition == 0 ? "" : "conditional ")
        + (delete ? "delete of " : "put of ")
        + KeyText.of(memory, AT + ObjectLayout.KEY_OFFSET, keyLength);
  }

  /** REQUIRES: nothing of this slot is outstanding. */
  private void ensureCapacity(int needed) {
    if (needed <= capacity) {
      return;
    }
    release();
    int larger = Math.max(CAPACITY_MIN, Integer.highestOneBit(needed - 1) << 1);
    own = new RegisteredMemory(context.device(), larger + Root.BYTES);
    memory = own.segment;
    region = own.region;
    writer = new ObjectWriter(memory);
    // This comes last, so that an Error before it, of a full heap for example, leaves no half-made
    // buffer.
    capacity = larger;
  }

  /** REQUIRES: the queue pair is closed, or nothing of this slot is outstanding. */
  void release() {
    RegisteredMemory old = own;
    own = null;
    memory = null;
    capacity = 0;
    if (old != null) {
      old.release();
    }
  }
}
