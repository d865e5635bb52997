package io.erda.logstore;

import io.erda.pmem.MemoryGuard;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Computes object checksums in one range of memory of less than 2 GiB: native, mapped, or a heap
 * {@code byte[]}. One thread; allocates nothing after construction.
 *
 * <p>A call for 1 KiB takes some 20 ns. In memory of a shared arena it takes some 10 ns more,
 * because the buffer prevents the arena from closing during the call. So buffers of a hot path
 * should belong to the automatic or the global arena.
 *
 * <p>Borrows the memory. Other threads and processes may store to it during a call. Then the result
 * may not belong to any single moment, but no load leaves the bounds.
 */
public final class ObjectChecksum {
  private static final int PAGE_BYTES = 4096;

  private final MemorySegment memory;
  private final ByteBuffer view;
  private final CRC32C crc = new CRC32C();
  private final MemoryGuard faults = new MemoryGuard();

  /** The loaded bytes; stored so that the compiler does not remove the loads that touch pages. */
  @SuppressWarnings("unused")
  private int touched;

  public ObjectChecksum(MemorySegment memory) {
    this.memory = memory;
    this.view = memory.asByteBuffer();
  }

  /**
   * Computes the right checksum of the object at {@code base}.
   *
   * @param bytes the length of header, key and value, without padding
   * @param positionMix a result of {@link #positionMix}
   */
  public int compute(long base, int bytes, int positionMix) {
    crc.reset();
    view.limit((int) base + bytes).position((int) base + ObjectLayout.VALUE_LENGTH_OFFSET);
    crc.update(view);
    return (int) crc.getValue() ^ positionMix;
  }

  /** Updates another computation with bytes of the memory. */
  public void update(CRC32C other, long at, int bytes) {
    view.limit((int) at + bytes).position((int) at);
    other.update(view);
  }

  /**
   * Whether a whole object that was written for this position lies at {@code base}, in at most
   * {@code room} bytes.
   */
  public boolean valid(long base, long room, int positionMix) {
    return validBytes(base, room, positionMix) != 0;
  }

  /**
   * Returns the length, without padding, of the whole object that was written for this position and
   * lies at {@code base} in at most {@code room} bytes; 0 when there is no such object.
   *
   * @throws InternalError when the memory belongs to a file that was shortened, see {@link
   *     MemoryGuard}
   */
  public int validBytes(long base, long room, int positionMix) {
    if (room < ObjectLayout.BYTES_MIN) {
      return 0;
    }
    // Each field is loaded once, so that a store of another process can make the result outdated,
    // but no load goes out of bounds.
    long word = ObjectLayout.firstWord(memory, base);
    int bytes = ObjectLayout.plausibleBytes(word, ObjectLayout.keyLength(memory, base), room);
    touch(base, bytes);
    faults.surface();
    return bytes != 0 && compute(base, bytes, positionMix) == ObjectLayout.checksum(word)
        ? bytes
        : 0;
  }

  /**
   * Loads a byte of each page, because the instructions of the checksum must not meet a missing
   * page.
   */
  private void touch(long base, int bytes) {
    int seen = 0;
    for (long at = PAGE_BYTES; at < bytes; at += PAGE_BYTES) {
      seen += memory.get(ValueLayout.JAVA_BYTE, base + at);
    }
    touched = bytes == 0 ? seen : seen + memory.get(ValueLayout.JAVA_BYTE, base + bytes - 1);
  }

  /**
   * Returns the part of the checksum that depends on the position, which makes a copy of an object
   * at another place, or in another generation, invalid.
   *
   * <p>Each step is a bijection of 32 bits. So two generations never have the same mix at the same
   * offset, and two offsets never have the same mix in the same generation. An object that an
   * earlier generation of a region has left at a place is therefore certainly invalid. For
   * unrelated positions the probability of equal mixes is 2⁻³².
   *
   * @param generation the generation of the region; it belongs to one head and is never repeated in
   *     a store
   * @param offset 8-byte units along the head's regions
   */
  public static int positionMix(int head, int generation, int offset) {
    return scramble(offset ^ scramble(generation + (head + 1) * 0x9E37_79B9));
  }

  /**
   * The finaliser of MurmurHash3: a bijection where each bit of the argument reaches each bit of
   * the result.
   */
  private static int scramble(int x) {
    x = (x ^ (x >>> 16)) * 0x85EB_CA6B;
    x = (x ^ (x >>> 13)) * 0xC2B2_AE35;
    return x ^ (x >>> 16);
  }
}
