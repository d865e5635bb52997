package io.erda.eval.baselines;

import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.pmem.PersistentMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.function.LongConsumer;

/**
 * The redo log: a ring of records. One thread; clients may WRITE to places that they were given.
 * Borrows its memory.
 *
 * <pre>
 *      0   magic       8    "ErdaRedo"
 *      8   ring bytes  8
 *     64   head        8    position of the first record that recovery needs
 *   4096   ring             records at multiples of 64
 *
 *   record:  position 8 | object as in {@link ObjectLayout}
 * </pre>
 *
 * <p>Positions only grow and begin with the length of the ring, so none is 0; a record lies at its
 * position modulo that length. No record crosses the end of the ring.
 */
final class RedoLog {
  static final int ALIGNMENT = 64;

  /** The bytes before the object of a record. */
  static final int POSITION_BYTES = 8;

  /** Where the ring begins in the memory. */
  static final long RING_AT = 4096;

  /** There is no room. */
  static final long NONE = -1;

  private static final long MAGIC = 0x6F64_6552_6164_7245L; // "ErdaRedo"
  private static final long MAGIC_AT = 0;
  private static final long RING_BYTES_AT = 8;
  private static final long HEAD_AT = 64;
  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle WORD_HANDLE = WORD.varHandle();

  private final PersistentMemory memory;
  private final MemorySegment segment;
  private final ObjectChecksum checksum;
  private final int ringBytes;

  /** The durable head. */
  private long head;

  private long tail;

  private RedoLog(PersistentMemory memory, int ringBytes, long head) {
    this.memory = memory;
    this.segment = memory.segment();
    this.checksum = new ObjectChecksum(segment);
    this.ringBytes = ringBytes;
    this.head = head;
    this.tail = head;
  }

  static long bytesFor(int ringBytes) {
    return RING_AT + ringBytes;
  }

  /** Formats zeroed memory, durably. */
  static RedoLog create(PersistentMemory memory, int ringBytes) {
    memory.putLongRelease(HEAD_AT, ringBytes);
    memory.putLongRelease(RING_BYTES_AT, ringBytes);
    memory.flush(0, HEAD_AT + Long.BYTES);
    memory.drain();
    memory.putLongRelease(MAGIC_AT, MAGIC);
    memory.flush(MAGIC_AT, Long.BYTES);
    memory.drain();
    return new RedoLog(memory, ringBytes, ringBytes);
  }

  /** Opens the log that a server left; null when it was not formatted yet, and so is empty. */
  static RedoLog open(PersistentMemory memory) {
    if (memory.segment().get(WORD, MAGIC_AT) != MAGIC) {
      return null;
    }
    int ringBytes = Math.toIntExact(memory.segment().get(WORD, RING_BYTES_AT));
    return new RedoLog(memory, ringBytes, memory.segment().get(WORD, HEAD_AT));
  }

  /** Passes the positions of all whole records, in order, and changes nothing. */
  void recover(LongConsumer records) {
    long end = head + ringBytes;
    for (long position = head; position < end; ) {
      int bytes = wholeBytes(position, Math.min(end - position, ringBytes - ringOffset(position)));
      if (bytes > 0) {
        records.accept(position);
        position += placeBytes(bytes);
      } else {
        position += ALIGNMENT;
      }
    }
  }

  // Places.

  /** The bytes of an object's record in the ring. */
  static int placeBytes(int objectBytes) {
    return (POSITION_BYTES + objectBytes + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** The longest object. */
  int objectBytesMax() {
    return ringBytes / 8 - POSITION_BYTES;
  }

  /** The place of the next record, or {@link #NONE} when the durable head is in the way. */
  long reserve(int objectBytes) {
    int bytes = placeBytes(objectBytes);
    long left = ringBytes - ringOffset(tail);
    long position = bytes <= left ? tail : tail + left;
    if (position + bytes - head > ringBytes) {
      return NONE;
    }
    tail = position + bytes;
    return position;
  }

  /** The position after the last place that was given. */
  long tail() {
    return tail;
  }

  long head() {
    return head;
  }

  int ringBytes() {
    return ringBytes;
  }

  /**
   * Lets the space before {@code position} be reused. REQUIRES: no record before it is needed,
   * whatever fails from now on.
   */
  void advanceHead(long position) {
    memory.putLongRelease(HEAD_AT, position);
    memory.flush(HEAD_AT, Long.BYTES);
    memory.drain();
    head = position;
  }

  // Records.

  /**
   * Stores a record and flushes it; the caller drains.
   *
   * @param source the object at {@code objectAt}, and room for the position before it
   */
  void append(
      long position, MemorySegment source, ObjectChecksum sourceSum, long objectAt, int bytes) {
    source.set(WORD, objectAt - POSITION_BYTES, position);
    ObjectLayout.putChecksum(
        source, objectAt, sourceSum.compute(objectAt, bytes, positionMix(position)));
    memory.put(offset(position), source, objectAt - POSITION_BYTES, POSITION_BYTES + bytes);
    flush(position, bytes);
  }

  void flush(long position, int objectBytes) {
    memory.flush(offset(position), POSITION_BYTES + objectBytes);
  }

  void drain() {
    memory.drain();
  }

  /** Whether the record of an object of exactly this length is there. */
  boolean isWhole(long position, int objectBytes) {
    return wholeBytes(position, objectBytes + POSITION_BYTES) == objectBytes;
  }

  /** Bytes of the object of a whole record that fits into {@code room}; 0 when there is none. */
  private int wholeBytes(long position, long room) {
    long at = offset(position);
    if (room < POSITION_BYTES + ObjectLayout.BYTES_MIN
        || (long) WORD_HANDLE.getAcquire(segment, at) != position) {
      return 0;
    }
    return checksum.validBytes(at + POSITION_BYTES, room - POSITION_BYTES, positionMix(position));
  }

  static int positionMix(long position) {
    return ObjectChecksum.positionMix(0, (int) (position >>> 38), (int) (position / ALIGNMENT));
  }

  MemorySegment segment() {
    return segment;
  }

  /** The offset of a record's object in {@link #segment()}. */
  long objectAt(long position) {
    return offset(position) + POSITION_BYTES;
  }

  /** The offset of a record in the memory. */
  long offset(long position) {
    return RING_AT + ringOffset(position);
  }

  private long ringOffset(long position) {
    return position % ringBytes;
  }
}
