package io.erda.client.connections;

import io.erda.hashtable.VersionWord;

/**
 * Remembers the places where objects were last found. A get READs the remembered place together
 * with its look-up, and needs only one round trip when the look-up names the same place. A hint may
 * belong to another key, or be outdated; a wrong hint costs only time. One thread.
 *
 * <p>Each key has two slots, which other keys use too. The number of slots is small at first, and
 * doubles while keys overwrite each other's hints, up to {@value #SLOTS_MAX} slots (2 MiB).
 */
public final class PlaceHints {
  private static final int SLOTS_MIN = 1 << 10;
  private static final int SLOTS_MAX = 1 << 18;

  /** An odd multiplier whose bits are well mixed. */
  private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

  /**
   * Each slot holds 32 bits of the spread key word, whose lowest bits are the slot's number, and an
   * offset.
   */
  private long[] slots = new long[SLOTS_MIN];

  /**
   * Hints learned, and hints of other keys that they overwrote, since growth was last considered.
   */
  private int learned;

  private int lost;

  /** The offset that a key word's entry named last; {@link VersionWord#NONE} when unknown. */
  public int of(long keyWord) {
    int spread = spread(keyWord);
    int at = spread & slots.length - 1;
    long first = slots[at];
    if (tag(first) == spread) {
      return offset(first);
    }
    long second = slots[at ^ 1];
    return tag(second) == spread ? offset(second) : VersionWord.NONE;
  }

  public void learn(long keyWord, int offset) {
    int spread = spread(keyWord);
    lost += put((long) spread << 32 | offset) ? 1 : 0;
    if (lost > slots.length / 8) {
      grow();
    } else if (++learned == 4 * slots.length) {
      learned = 0;
      lost = 0;
    }
  }

  int slots() {
    return slots.length;
  }

  /** Stores a hint. Returns whether it overwrote another key's. */
  private boolean put(long hint) {
    int at = tag(hint) & slots.length - 1;
    long first = slots[at];
    slots[at] = hint;
    if (offset(first) == VersionWord.NONE || tag(first) == tag(hint)) {
      return false;
    }
    long second = slots[at ^ 1];
    slots[at ^ 1] = first;
    return offset(second) != VersionWord.NONE && tag(second) != tag(hint);
  }

  private void grow() {
    learned = 0;
    lost = 0;
    if (slots.length < SLOTS_MAX) {
      long[] smaller = slots;
      slots = new long[2 * smaller.length];
      for (long hint : smaller) {
        if (offset(hint) != VersionWord.NONE) {
          put(hint);
        }
      }
    }
  }

  private static int tag(long hint) {
    return (int) (hint >>> 32);
  }

  private static int offset(long hint) {
    return (int) hint;
  }

  private static int spread(long keyWord) {
    return (int) (keyWord * SPREAD >>> 32);
  }
}
