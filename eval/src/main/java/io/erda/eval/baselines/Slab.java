package io.erda.eval.baselines;

import io.erda.pmem.PersistentMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.BitSet;

/**
 * The destination storage: objects in slots of size classes. One thread. Borrows its memory.
 *
 * <pre>
 *   0           for each chunk: bytes of its slots (8), 0 while it has no class
 *   dataAt      chunks
 *
 *   object:  value length 4 | key length 2 | 0 2 | key | value
 * </pre>
 *
 * <p>An address is the offset of an object in the memory: a multiple of 8, never 0. The free slots
 * are only known in DRAM: an opening marks those that the table names.
 */
final class Slab {
  static final int HEADER_BYTES = 8;
  static final int CLASSES = 4 * 32;

  private static final int SLOT_BYTES_MIN = 32;
  private static final int PAGE_BYTES = 4096;
  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final PersistentMemory memory;
  private final MemorySegment segment;
  private final int chunkBytes;
  private final int chunks;
  private final long dataAt;

  /** Free slots by class: stacks of addresses. */
  private final long[][] free = new long[CLASSES][];

  private final int[] freeCounts = new int[CLASSES];

  /** Chunks without a class, a stack. */
  private final int[] freeChunks;

  private int freeChunkCount;

  /** During recovery: slots in use. */
  private BitSet[] used;

  /** Takes a memory of {@link #bytesFor} bytes; zeros are an empty slab. */
  Slab(PersistentMemory memory, BaselineGeometry geometry) {
    this.memory = memory;
    this.segment = memory.segment();
    this.chunkBytes = geometry.chunkBytes();
    this.chunks = Math.toIntExact(geometry.slabBytes() / chunkBytes);
    this.dataAt = dataAt(geometry);
    this.freeChunks = new int[chunks];
    this.used = new BitSet[chunks];
    for (int chunk = 0; chunk < chunks; chunk++) {
      used[chunk] = new BitSet();
    }
  }

  static long bytesFor(BaselineGeometry geometry) {
    return dataAt(geometry) + geometry.slabBytes();
  }

  private static long dataAt(BaselineGeometry geometry) {
    long table = geometry.slabBytes() / geometry.chunkBytes() * Long.BYTES;
    return (table + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
  }

  /** The class of an object of this many bytes, header included. */
  static int classOf(int bytes) {
    int most = Math.max(bytes, SLOT_BYTES_MIN) - 1;
    int power = 31 - Integer.numberOfLeadingZeros(most);
    return 4 * power + (most >>> power - 2 & 3);
  }

  static int slotBytes(int sizeClass) {
    int power = sizeClass >>> 2;
    return (1 << power) + ((sizeClass & 3) + 1 << power - 2);
  }

  // Recovery.

  /** Notes that a word of the table names an object. */
  void markUsed(long address) {
    int chunk = chunkOf(address);
    int slot = slotBytesOf(chunk);
    if (slot == 0) {
      throw new IllegalStateException("address " + address + " in a chunk without a class");
    }
    int index = (int) ((address - chunkAt(chunk)) / slot);
    if (used[chunk].get(index)) {
      throw new IllegalStateException("two entries name the object at " + address);
    }
    used[chunk].set(index);
  }

  /** Notes that all words were shown: the other slots are free. */
  void allMarked() {
    for (int chunk = chunks - 1; chunk >= 0; chunk--) {
      int slot = slotBytesOf(chunk);
      if (slot == 0) {
        freeChunks[freeChunkCount++] = chunk;
      } else {
        freeSlots(chunk, slot, used[chunk]);
      }
    }
    used = null;
  }

  private void freeSlots(int chunk, int slot, BitSet taken) {
    for (int index = chunkBytes / slot - 1; index >= 0; index--) {
      if (taken == null || !taken.get(index)) {
        push(classOf(slot), chunkAt(chunk) + (long) index * slot);
      }
    }
  }

  // Space.

  /** Bytes of chunks without a class. */
  long freeChunkBytes() {
    return (long) freeChunkCount * chunkBytes;
  }

  /** Allocates a slot for an object; 0 when there is none. */
  long allocate(int bytes) {
    int sizeClass = classOf(bytes);
    if (freeCounts[sizeClass] == 0) {
      if (freeChunkCount == 0) {
        return 0;
      }
      int chunk = freeChunks[--freeChunkCount];
      int slot = slotBytes(sizeClass);
      memory.putLongRelease((long) chunk * Long.BYTES, slot);
      memory.flush((long) chunk * Long.BYTES, Long.BYTES);
      freeSlots(chunk, slot, null);
    }
    return free[sizeClass][--freeCounts[sizeClass]];
  }

  /**
   * Frees a slot that no word names any more. REQUIRES: the store that emptied the last such word
   * is drained before the next {@link #allocate}.
   */
  void free(long address) {
    push(classOf(slotBytesAt(address)), address);
  }

  private void push(int sizeClass, long address) {
    long[] stack = free[sizeClass];
    if (stack == null || freeCounts[sizeClass] == stack.length) {
      stack = stack == null ? new long[64] : Arrays.copyOf(stack, 2 * stack.length);
      free[sizeClass] = stack;
    }
    stack[freeCounts[sizeClass]++] = address;
  }

  /** Bytes of the slot of an object. */
  int slotBytesAt(long address) {
    return slotBytesOf(chunkOf(address));
  }

  private int slotBytesOf(int chunk) {
    return (int) segment.get(WORD, (long) chunk * Long.BYTES);
  }

  private int chunkOf(long address) {
    return Math.toIntExact((address - dataAt) / chunkBytes);
  }

  private long chunkAt(int chunk) {
    return dataAt + (long) chunk * chunkBytes;
  }

  // Objects.

  MemorySegment segment() {
    return segment;
  }

  int valueLength(long address) {
    return (int) segment.get(WORD, address);
  }

  int keyLength(long address) {
    return (int) (segment.get(WORD, address) >>> 32);
  }

  boolean hasKey(long address, MemorySegment key, long keyAt, int keyLength) {
    long begin = address + HEADER_BYTES;
    return keyLength(address) == keyLength
        && MemorySegment.mismatch(segment, begin, begin + keyLength, key, keyAt, keyAt + keyLength)
            < 0;
  }

  /**
   * Stores the lengths, and key and value, which follow each other at {@code from}. Flushes; the
   * caller drains.
   */
  void put(long address, int keyLength, int valueLength, MemorySegment source, long from) {
    memory.putLongRelease(address, lengths(keyLength, valueLength));
    memory.put(address + HEADER_BYTES, source, from, keyLength + valueLength);
    memory.flush(address, HEADER_BYTES + keyLength + valueLength);
  }

  /** Replaces the value of an object of the same key. Flushes; the caller drains. */
  void update(long address, int keyLength, int valueLength, MemorySegment source, long valueFrom) {
    if (valueLength(address) != valueLength) {
      memory.putLongRelease(address, lengths(keyLength, valueLength));
      memory.flush(address, HEADER_BYTES);
    }
    long valueAt = address + HEADER_BYTES + keyLength;
    if (valueLength > 0) {
      memory.put(valueAt, source, valueFrom, valueLength);
      memory.flush(valueAt, valueLength);
    }
  }

  void drain() {
    memory.drain();
  }

  private static long lengths(int keyLength, int valueLength) {
    return (long) keyLength << 32 | valueLength;
  }
}
