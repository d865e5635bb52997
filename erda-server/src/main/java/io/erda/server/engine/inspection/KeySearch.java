package io.erda.server.engine.inspection;

import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import io.erda.server.engine.store.StoreEngine;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * Finds the key of a damaged object: the key as stored, with another length, or with one byte
 * changed, that has the entry's key word. With 56 bits of tag an accidental match is practically
 * impossible.
 *
 * <p>The time is bounded by limits on the bytes that are hashed, for each object and for all
 * objects together. When too many objects are damaged only the short search is made, which tries
 * the stored length and a few others.
 */
final class KeySearch {
  /**
   * The most bytes that are hashed for one object, in about 50 ms: enough for every length, and for
   * each byte of a key of 900 bytes.
   */
  private static final long OBJECT_BYTES_MAX = 256 << 20;

  /**
   * The most bytes that are hashed for all objects beyond the short search, in about two seconds.
   */
  private static final long ALL_BYTES_MAX = 4L << 30;

  /** The longest length that the short search tries. */
  private static final int SHORT_LENGTH_MAX = 64;

  private final StoreEngine engine;
  private long left = ALL_BYTES_MAX;
  private long leftForObject;

  KeySearch(StoreEngine engine) {
    this.engine = engine;
  }

  /** The key of the object at {@code offset}, or null when it can't be found from the bytes. */
  byte[] keyAt(int head, int offset, long keyWord) {
    Region region = engine.log().region(head, offset);
    if (region == null) {
      return null;
    }
    long place = engine.log().geometry().place(offset);
    MemorySegment memory = region.memory().segment();
    int room =
        (int)
            Math.max(
                0,
                Math.min(
                    engine.keyBytesMax(),
                    engine.log().geometry().room(place) - ObjectLayout.KEY_OFFSET));
    byte[] bytes =
        memory.asSlice(place + ObjectLayout.KEY_OFFSET, room).toArray(ValueLayout.JAVA_BYTE);
    int stored = ObjectLayout.keyLength(memory, place);
    leftForObject = Math.min(OBJECT_BYTES_MAX, left);
    long before = leftForObject;
    byte[] key = search(bytes, stored, keyWord);
    left -= before - leftForObject;
    return key;
  }

  private byte[] search(byte[] bytes, int stored, long keyWord) {
    MemorySegment view = MemorySegment.ofArray(bytes);
    boolean plausible = stored > 0 && stored <= bytes.length;
    if (plausible && engine.keyWord(view, 0, stored) == keyWord) {
      return Arrays.copyOf(bytes, stored);
    }
    for (int length = 1; length <= bytes.length; length++) {
      if (length > SHORT_LENGTH_MAX && !spend(length)) {
        break;
      }
      if (engine.keyWord(view, 0, length) == keyWord) {
        return Arrays.copyOf(bytes, length);
      }
    }
    return plausible ? withAnotherByte(bytes, stored, keyWord) : null;
  }

  private byte[] withAnotherByte(byte[] bytes, int stored, long keyWord) {
    MemorySegment view = MemorySegment.ofArray(bytes);
    for (int at = 0; at < stored && spend(255L * stored); at++) {
      byte damaged = bytes[at];
      for (int difference = 1; difference < 256; difference++) {
        bytes[at] = (byte) (damaged ^ difference);
        if (engine.keyWord(view, 0, stored) == keyWord) {
          return Arrays.copyOf(bytes, stored);
        }
      }
      bytes[at] = damaged;
    }
    return null;
  }

  private boolean spend(long bytes) {
    leftForObject -= bytes;
    return leftForObject >= 0;
  }
}
