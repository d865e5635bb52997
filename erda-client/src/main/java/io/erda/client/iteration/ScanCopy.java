package io.erda.client.iteration;

import io.erda.client.connections.RegisteredMemory;
import io.erda.hashtable.Entry;
import io.erda.hashtable.KeyHash;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.protocol.Root;
import io.erda.rdma.Device;
import io.erda.rdma.MemoryRegion;
import java.lang.foreign.MemorySegment;

/**
 * The memory of an iteration: its copies of the root, the tables and the log. It uses only these
 * copies, to which no other thread stores.
 *
 * <p>Layout: {@code root 64 | entries 65536 | objects}. The objects' part grows for a longer
 * object. The memory is made when the first iteration begins and kept for the next one.
 */
final class ScanCopy {
  static final int ROOT = 0;
  static final int ENTRIES = 64;
  static final int OBJECTS = ENTRIES + ScanOrder.SLOTS_MAX * Entry.BYTES;

  private static final int OBJECT_BYTES_MIN = 1 << 17;

  private final Device device;

  /** Null before the first iteration. */
  private RegisteredMemory own;

  private ObjectChecksum checksum;

  // Null before the first iteration.
  MemorySegment memory;
  MemoryRegion region;

  /** Bytes of objects that fit. */
  int objectCapacity;

  ScanCopy(Device device) {
    this.device = device;
  }

  /** Makes the memory, unless it is there. */
  void prepare() {
    if (own == null) {
      allocate(OBJECT_BYTES_MIN);
    }
  }

  long incarnation() {
    return Root.incarnation(memory, ROOT);
  }

  long epoch() {
    return Root.epoch(memory, ROOT);
  }

  long structureCounter() {
    return Root.structureCounter(memory, ROOT);
  }

  /**
   * The length of the object at {@code at}, if it is whole, was written for a position and has a
   * key with a key word.
   *
   * @param fetched bytes that were READ
   * @return its length in bytes without padding; 0 when it is no such object
   */
  int wholeBytes(int at, int fetched, int positionMix, long keyWord, KeyHash hash, int heads) {
    int bytes = checksum.validBytes(at, fetched, positionMix);
    if (bytes == 0) {
      return 0;
    }
    int keyLength = ObjectLayout.keyLength(memory, at);
    long found = Entry.keyWord(hash.of(memory, at + ObjectLayout.KEY_OFFSET, keyLength), heads);
    return found == keyWord ? bytes : 0;
  }

  /**
   * Makes room for an object of {@code bytes}, of which the first {@code kept} are here already.
   * REQUIRES: no READ into the memory is outstanding.
   */
  void grow(int bytes, int kept) {
    RegisteredMemory old = own;
    allocate(Integer.highestOneBit(Math.max(bytes, 2) - 1) << 1);
    MemorySegment.copy(old.segment, 0, own.segment, 0, OBJECTS + (long) kept);
    old.release();
  }

  private void allocate(int bytes) {
    RegisteredMemory made = new RegisteredMemory(device, OBJECTS + (long) bytes);
    ObjectChecksum madeChecksum = new ObjectChecksum(made.segment);
    // Nothing is called from here on, so an Error, of a full heap for example, leaves the fields as
    // they were.
    own = made;
    objectCapacity = bytes;
    memory = made.segment;
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
