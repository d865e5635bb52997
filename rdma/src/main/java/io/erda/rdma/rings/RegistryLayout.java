package io.erda.rdma.rings;

import java.lang.foreign.MemorySegment;

/**
 * The layout of the registry, the file in which a responder lists the regions that peers on its
 * host may map.
 *
 * <pre>
 *     0  magic (8) · layout version (4) · slots (4) · registry ID (8) · next key sequence (8)
 *   256  slot 0, slot 1, … of 256 bytes each:
 *          0  key (8), 0 while nothing is registered here; stored last, cleared first
 *          8  offset in the file (8) · length (8) · inode (8)
 *         32  access (4) · name length (4) · file name, UTF-8, in the directory around the registry's (216)
 * </pre>
 *
 * <p>A remote key is {@code sequence << 16 | slot}; sequences only grow, also over restarts, so a
 * key is never reused. A reader loads the key, then the slot, and then the key again.
 */
public final class RegistryLayout {
  /** "ERDAREG\0" as a little-endian word. */
  public static final long MAGIC = 0x00474552_41445245L;

  public static final int VERSION = QueueLayout.VERSION;

  /**
   * The number of slots: enough for the regions of a log, 8190 at most, the root, and tables that
   * are being or were doubled.
   */
  public static final int SLOTS = 8256;

  public static final int SLOT_BYTES = 256;

  public static final long MAGIC_OFFSET = 0;
  public static final long VERSION_OFFSET = 8;
  public static final long SLOTS_OFFSET = 12;
  public static final long ID_OFFSET = 16;
  public static final long NEXT_SEQUENCE_OFFSET = 24;
  public static final long FIRST_SLOT_OFFSET = 256;
  public static final long BYTES = FIRST_SLOT_OFFSET + (long) SLOTS * SLOT_BYTES;

  public static final long KEY = 0;
  public static final long FILE_OFFSET = 8;
  public static final long LENGTH = 16;
  public static final long INODE = 24;
  public static final long ACCESS = 32;
  public static final long NAME_LENGTH = 36;
  public static final long NAME = 40;
  public static final int NAME_BYTES_MAX = SLOT_BYTES - (int) NAME;

  private static final int SLOT_BITS = 16;

  static {
    assert NEXT_SEQUENCE_OFFSET + Long.BYTES <= FIRST_SLOT_OFFSET : "slots lie behind the header";
    assert SLOTS <= 1 << SLOT_BITS : "a key names each slot";
    assert INODE + Long.BYTES == ACCESS && NAME_LENGTH + Integer.BYTES == NAME
        : "the fields of a slot follow each other";
  }

  private RegistryLayout() {}

  public static long key(long sequence, int slot) {
    assert sequence > 0 && sequence >>> 46 == 0 && slot >= 0 && slot < SLOTS
        : "sequence " + sequence + " and slot " + slot + " make no key";
    return sequence << SLOT_BITS | slot;
  }

  public static int slot(long key) {
    return (int) key & (1 << SLOT_BITS) - 1;
  }

  public static long slotOffset(int slot) {
    return FIRST_SLOT_OFFSET + (long) slot * SLOT_BYTES;
  }

  /**
   * The version in the first bytes of a registry, which is at the same place in every version; −1
   * when the bytes are not those of a registry.
   */
  public static int version(MemorySegment first) {
    return first.byteSize() >= SLOTS_OFFSET
            && (long) QueueLayout.WORD.getAcquire(first, MAGIC_OFFSET) == MAGIC
        ? first.get(QueueLayout.INT, VERSION_OFFSET)
        : -1;
  }

  /** Checks a registry. Returns the error in words, or null. */
  public static String validate(MemorySegment registry) {
    if (registry.byteSize() < FIRST_SLOT_OFFSET
        || (long) QueueLayout.WORD.getAcquire(registry, MAGIC_OFFSET) != MAGIC) {
      return "not a registry of regions";
    }
    int version = registry.get(QueueLayout.INT, VERSION_OFFSET);
    if (version != VERSION) {
      return "registry layout version " + version + ", not " + VERSION;
    }
    int slots = registry.get(QueueLayout.INT, SLOTS_OFFSET);
    return slots == SLOTS && registry.byteSize() == BYTES
        ? null
        : "registry of " + slots + " slots in " + registry.byteSize() + " bytes";
  }
}
