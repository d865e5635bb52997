package io.erda.rdma.rings;

import io.erda.pmem.PageCopy;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Copies from and to memory that other threads load and store at the same time, without tearing
 * 8-aligned words.
 *
 * <p>A bulk copy is sure to move whole words only when both places and the length are multiples of
 * 8; otherwise the JDK may choose smaller units, or loads that straddle words. So a copy between
 * places that agree mod 8 is split into bytes up to a word boundary, words, and the bytes that
 * remain. A copy between places that do not agree goes through a buffer that agrees with the shared
 * place, so that whole words are moved there, too. No store to shared memory crosses pages ({@link
 * PageCopy}). One thread.
 */
final class SharedMemoryCopy {
  private static final int BOUNCE_BYTES = 4096;

  private MemorySegment bounce;

  /** Copies shared memory into private memory. */
  void load(
      MemorySegment shared,
      long sharedOffset,
      long sharedAddress,
      MemorySegment own,
      long ownOffset,
      long ownAddress,
      int length) {
    if (((sharedAddress | ownAddress | length) & 7) == 0) {
      MemorySegment.copy(shared, sharedOffset, own, ownOffset, length);
    } else if (((sharedAddress ^ ownAddress) & 7) == 0) {
      congruent(shared, sharedOffset, own, ownOffset, sharedAddress, length);
    } else {
      loadBounced(shared, sharedOffset, sharedAddress, own, ownOffset, length);
    }
  }

  /** Copies private memory into shared memory. */
  void store(
      MemorySegment own,
      long ownOffset,
      long ownAddress,
      MemorySegment shared,
      long sharedOffset,
      long sharedAddress,
      int length) {
    if (((sharedAddress | ownAddress | length) & 7) == 0) {
      PageCopy.copy(own, ownOffset, shared, sharedOffset, length);
    } else if (((sharedAddress ^ ownAddress) & 7) == 0) {
      congruent(own, ownOffset, shared, sharedOffset, sharedAddress, length);
    } else {
      storeBounced(own, ownOffset, shared, sharedOffset, sharedAddress, length);
    }
  }

  private static void congruent(
      MemorySegment source, long from, MemorySegment target, long to, long address, int length) {
    int head = Math.min((int) -address & 7, length);
    int words = length - head & ~7;
    if (head != 0) {
      part(source, from, target, to, head);
    }
    PageCopy.copy(source, from + head, target, to + head, words);
    int tail = length - head - words;
    if (tail != 0) {
      part(source, from + head + words, target, to + head + words, tail);
    }
  }

  /** Copies fewer than 8 bytes that all lie in one word. */
  private static void part(
      MemorySegment source, long from, MemorySegment target, long to, int length) {
    int done = 0;
    if ((length & 4) != 0) {
      target.set(
          ValueLayout.JAVA_INT_UNALIGNED, to, source.get(ValueLayout.JAVA_INT_UNALIGNED, from));
      done = 4;
    }
    if ((length & 2) != 0) {
      target.set(
          ValueLayout.JAVA_SHORT_UNALIGNED,
          to + done,
          source.get(ValueLayout.JAVA_SHORT_UNALIGNED, from + done));
      done += 2;
    }
    if ((length & 1) != 0) {
      target.set(ValueLayout.JAVA_BYTE, to + done, source.get(ValueLayout.JAVA_BYTE, from + done));
    }
  }

  private void loadBounced(
      MemorySegment shared, long from, long address, MemorySegment own, long to, int length) {
    MemorySegment buffer = bounce();
    int skew = (int) address & 7;
    for (int done = 0; done < length; ) {
      int chunk = Math.min(length - done, BOUNCE_BYTES - skew);
      congruent(shared, from + done, buffer, skew, address + done, chunk);
      MemorySegment.copy(buffer, skew, own, to + done, chunk);
      done += chunk;
      skew = 0;
    }
  }

  private void storeBounced(
      MemorySegment own, long from, MemorySegment shared, long to, long address, int length) {
    MemorySegment buffer = bounce();
    int skew = (int) address & 7;
    for (int done = 0; done < length; ) {
      int chunk = Math.min(length - done, BOUNCE_BYTES - skew);
      MemorySegment.copy(own, from + done, buffer, skew, chunk);
      congruent(buffer, skew, shared, to + done, address + done, chunk);
      done += chunk;
      skew = 0;
    }
  }

  private MemorySegment bounce() {
    if (bounce == null) {
      bounce = Arena.ofAuto().allocate(BOUNCE_BYTES, 8);
    }
    return bounce;
  }

  /** How many of the bytes about to be stored differ from the former ones. */
  static long differing(MemorySegment own, long from, MemorySegment shared, long to, int length) {
    long differing = 0;
    for (int i = 0; i < length; i++) {
      if (own.get(ValueLayout.JAVA_BYTE, from + i) != shared.get(ValueLayout.JAVA_BYTE, to + i)) {
        differing++;
      }
    }
    return differing;
  }
}
