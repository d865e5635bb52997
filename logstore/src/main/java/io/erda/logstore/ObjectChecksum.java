package io.erda.logstore;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Computes object checksums in one stretch of memory of at most 2 GiB. One thread; allocates nothing after construction.
 *
 * <p>Borrows the memory.
 */
public final class ObjectChecksum {
  private final MemorySegment memory;
  private final ByteBuffer view;
  private final CRC32C crc = new CRC32C();

  public ObjectChecksum(MemorySegment memory) {
    this.memory = memory;
    this.view = memory.asByteBuffer();
  }

  /**
   * What the checksum field of the object at {@code base} must be.
   *
   * @param bytes of header, key and value, without padding
   * @param positionMix of {@link #positionMix}
   */
  public int compute(long base, int bytes, int positionMix) {
    crc.reset();
    view.limit((int) base + bytes).position((int) base + ObjectLayout.VALUE_LENGTH_OFFSET);
    crc.update(view);
    return (int) crc.getValue() ^ positionMix;
  }

  /** Whether a whole object that was written for this position lies at {@code base}, in at most {@code room} bytes. */
  public boolean valid(long base, long room, int positionMix) {
    return ObjectLayout.plausible(memory, base, room)
        && compute(base, ObjectLayout.bytes(ObjectLayout.keyLength(memory, base), ObjectLayout.valueLength(memory, base)), positionMix)
            == ObjectLayout.checksum(memory, base);
  }

  /**
   * What a position contributes to the checksum: a copy of an object elsewhere, or in another generation, is not valid.
   *
   * @param offset 8-byte units along the head's regions
   */
  public static int positionMix(int head, int generation, int offset) {
    long x = ((long) generation << 32 | (offset & 0xFFFF_FFFFL)) + (head + 1) * 0x9E37_79B9_7F4A_7C15L;
    x = (x ^ (x >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
    x = (x ^ (x >>> 27)) * 0x94D0_49BB_1331_11EBL;
    x ^= x >>> 31;
    return (int) (x ^ (x >>> 32));
  }
}
