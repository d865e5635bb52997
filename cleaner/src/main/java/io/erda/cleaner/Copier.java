package io.erda.cleaner;

import io.erda.logstore.CleaningSpace;
import io.erda.logstore.CopySpace;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import io.erda.pmem.PersistentMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * Copies objects into a copy space, a piece at a time. It collects a batch of copies before words
 * may name them, so that one drain makes all of them durable.
 *
 * <p>The copy of an object differs from it only in the position mix of its checksum. The checksum
 * of the original is verified during the copy: the copy of a damaged object gets no header, so that
 * copying never makes it valid.
 */
final class Copier {
  enum Result {
    GOES_ON,
    COPIED,
    DAMAGED
  }

  private static final int BATCH_OBJECTS = 1024;
  private static final int BATCH_BYTES_MAX = 256 << 10;

  /**
   * A batch is at most this share of a region, which bounds how much of a copy space a crash
   * wastes.
   */
  private static final int BATCH_SHARE = 64;

  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final CleaningSpace space;
  private final LogGeometry geometry;
  private final long batchBytesMax;
  private final CRC32C crc = new CRC32C();
  private final MemorySegment header = MemorySegment.ofArray(new long[1]);

  private final int[] from = new int[BATCH_OBJECTS];
  private final int[] to = new int[BATCH_OBJECTS];
  private final int[] lengths = new int[BATCH_OBJECTS];
  private final long[] keyWords = new long[BATCH_OBJECTS];
  private int count;
  private int named;
  private boolean naming;
  private long batchBytes;
  private long copiedBytes;

  // The object that is being copied.
  private boolean copying;
  private Region source;
  private PersistentMemory target;
  private long sourcePlace;
  private long targetPlace;
  private int bytes;
  private int done;
  private long firstWord;
  private int mixes;
  private int sourceMix;

  Copier(CleaningSpace space, LogGeometry geometry) {
    this.space = space;
    this.geometry = geometry;
    this.batchBytesMax = Math.min(BATCH_BYTES_MAX, geometry.regionBytes() / BATCH_SHARE);
  }

  /** Returns the bytes copied so far, including padding. */
  long copiedBytes() {
    return copiedBytes;
  }

  /** Drops the batch and the object that is being copied. */
  void reset() {
    count = 0;
    named = 0;
    batchBytes = 0;
    naming = false;
    copying = false;
  }

  boolean isEmpty() {
    return count == 0;
  }

  boolean isFull() {
    return count == BATCH_OBJECTS || batchBytes >= batchBytesMax;
  }

  boolean copying() {
    return copying;
  }

  boolean isWhole(Region region, long place, int offset) {
    return region
        .checksum()
        .valid(
            place,
            geometry.room(place),
            ObjectChecksum.positionMix(region.head(), region.generation(), offset));
  }

  /** Begins to copy a plausible object. Returns false when the copy space has no room for it. */
  boolean begin(Region region, long place, int offset, long keyWord, CopySpace copySpace) {
    MemorySegment memory = region.memory().segment();
    firstWord = memory.get(WORD, place);
    bytes =
        ObjectLayout.bytes(
            ObjectLayout.keyLength(memory, place), ObjectLayout.valueLength(memory, place));
    long at = copySpace.take(ObjectLayout.padded(bytes));
    if (at < 0) {
      return false;
    }
    Region into = copySpace.region();
    assert count == 0 || target == into.memory() : "one drain is for all copies of a batch";
    source = region;
    target = into.memory();
    sourcePlace = place;
    targetPlace = at;
    int toOffset = geometry.offset(into.index(), at);
    sourceMix = ObjectChecksum.positionMix(region.head(), region.generation(), offset);
    mixes = sourceMix ^ ObjectChecksum.positionMix(into.head(), into.generation(), toOffset);
    from[count] = offset;
    to[count] = toOffset;
    lengths[count] = ObjectLayout.padded(bytes);
    keyWords[count] = keyWord;
    done = ObjectLayout.VALUE_LENGTH_OFFSET;
    crc.reset();
    copying = true;
    return true;
  }

  /** Copies some bytes of the object under way. */
  Result copyOn(int atMost) {
    MemorySegment memory = source.memory().segment();
    int end = Math.min(bytes, (done + atMost) & -ObjectLayout.ALIGNMENT);
    source.checksum().update(crc, sourcePlace + done, end - done);
    // The first word is stored last, because without it the object is not valid.
    int begin = Math.max(done, Long.BYTES);
    int stored = end == bytes ? ObjectLayout.padded(bytes) : end;
    target.put(targetPlace + begin, memory, sourcePlace + begin, stored - begin);
    target.flush(targetPlace + begin, stored - begin);
    done = end;
    if (end < bytes) {
      return Result.GOES_ON;
    }
    copying = false;
    if (((int) crc.getValue() ^ sourceMix) != (int) firstWord) {
      return Result.DAMAGED;
    }
    header.set(WORD, 0, firstWord ^ (mixes & 0xFFFF_FFFFL));
    target.put(targetPlace, header, 0, Long.BYTES);
    target.flush(targetPlace, Long.BYTES);
    batchBytes += lengths[count];
    copiedBytes += lengths[count];
    count++;
    return Result.COPIED;
  }

  // Naming.

  /**
   * Makes the copies durable, and notes durably that their places are used, before the first word
   * names a copy.
   */
  void beginNaming(CopySpace copySpace) {
    assert count > 0 && !copying && target == copySpace.region().memory()
        : count + " copies" + (copying ? ", the last one under way" : "");
    target.drain();
    space.advance(copySpace, copySpace.next());
    named = 0;
    naming = true;
  }

  boolean naming() {
    return naming;
  }

  int nextFrom() {
    return from[named];
  }

  int nextTo() {
    return to[named];
  }

  long nextKeyWord() {
    return keyWords[named];
  }

  int nextBytes() {
    return lengths[named];
  }

  void named() {
    if (++named == count) {
      reset();
    }
  }
}
