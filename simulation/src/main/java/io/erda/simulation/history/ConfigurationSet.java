package io.erda.simulation.history;

import java.util.Arrays;

/**
 * A set of possible states of the search, in the order in which they were found: which of the open
 * operations have taken effect (bits), the value of the register, and how many of the optional
 * operations were used. A state is left out when another one with the same bits and value used no
 * more of both.
 */
final class ConfigurationSet {
  private static final int SMALL = 64;
  private static final int THRIFTY_MAX = 3;

  int size;

  /**
   * Leaves out more states than is correct: keeps a few of those that differ only in the optional
   * operations used.
   */
  boolean thrifty;

  long[] taken = new long[SMALL];
  int[] values = new int[SMALL];
  int[] deletes = new int[SMALL];
  int[] puts = new int[SMALL];
  private int[] table = new int[2 * SMALL];

  void clear() {
    if (size == 0) {
      return;
    }
    size = 0;
    if (table.length > 2 * SMALL) {
      table = new int[2 * SMALL];
    } else {
      Arrays.fill(table, 0);
    }
  }

  void add(long bits, int value, int usedDeletes, int usedPuts) {
    int mask = table.length - 1;
    int at = hash(bits, value) & mask;
    int alike = 0;
    for (; table[at] != 0; at = (at + 1) & mask) {
      int i = table[at] - 1;
      if (taken[i] == bits && values[i] == value && covers(i, usedDeletes, usedPuts)) {
        return;
      }
      alike += taken[i] == bits && values[i] == value ? 1 : 0;
    }
    if (thrifty && alike >= THRIFTY_MAX) {
      return;
    }
    if (size == taken.length) {
      grow();
    }
    taken[size] = bits;
    values[size] = value;
    deletes[size] = usedDeletes;
    puts[size] = usedPuts;
    table[at] = ++size;
    if (2 * size >= table.length) {
      rehash();
    }
  }

  private boolean covers(int i, int usedDeletes, int usedPuts) {
    return deletes[i] <= usedDeletes && puts[i] <= usedPuts;
  }

  private static int hash(long bits, int value) {
    long h = (bits ^ ((long) value << 40) ^ value) * 0x9E3779B97F4A7C15L;
    return (int) (h ^ (h >>> 32));
  }

  private void grow() {
    int length = 2 * size;
    taken = Arrays.copyOf(taken, length);
    values = Arrays.copyOf(values, length);
    deletes = Arrays.copyOf(deletes, length);
    puts = Arrays.copyOf(puts, length);
  }

  private void rehash() {
    table = new int[2 * table.length];
    int mask = table.length - 1;
    for (int i = 0; i < size; i++) {
      int at = hash(taken[i], values[i]) & mask;
      while (table[at] != 0) {
        at = (at + 1) & mask;
      }
      table[at] = i + 1;
    }
  }
}
