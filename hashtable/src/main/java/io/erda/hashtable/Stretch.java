package io.erda.hashtable;

import static io.erda.hashtable.TableLayout.hex;

import java.lang.foreign.MemorySegment;

/**
 * The slots of a table whose entries are being moved to a table of another size. It is one word, so
 * that it is stored atomically.
 *
 * <pre>
 *  63 .. 56   55 .... 44   43 ............ 0
 *  'D' = 44   slots        first slot          0 = none
 * </pre>
 */
record Stretch(long first, int slots) {
  /** The most slots that a stretch has. */
  static final int SLOTS_MAX = (1 << 12) - 1;

  private static final long MARK = 0x44L << 56;
  private static final long MARK_MASK = 0xFFL << 56;
  private static final int SLOTS_SHIFT = 44;
  private static final long FIRST_MASK = (1L << SLOTS_SHIFT) - 1;
  static final long FIRST_MAX = FIRST_MASK;

  long word() {
    assert slots > 0 && slots <= SLOTS_MAX && first >= 0 && first <= FIRST_MAX
        : this + " does not fit a word";
    return MARK | (long) slots << SLOTS_SHIFT | first;
  }

  long end() {
    return first + slots;
  }

  /**
   * The stretch in a table's memory, or null when there is none.
   *
   * @throws DamagedTableException when the word has a value that no resizing stores
   */
  static Stretch load(MemorySegment memory, long buckets) {
    long word = TableLayout.load(memory, TableLayout.STRETCH_OFFSET);
    if (word == 0) {
      return null;
    }
    Stretch stretch = new Stretch(word & FIRST_MASK, (int) (word >>> SLOTS_SHIFT) & SLOTS_MAX);
    if ((word & MARK_MASK) != MARK
        || stretch.slots == 0
        || stretch.end() > TableLayout.slots(buckets)) {
      throw new DamagedTableException(
          "stretch is damaged: " + hex(word) + " in a table of " + buckets + " buckets");
    }
    return stretch;
  }
}
