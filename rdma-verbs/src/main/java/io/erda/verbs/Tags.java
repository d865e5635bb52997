package io.erda.verbs;

/** The IDs of hardware completions: the kind in the upper bits, a number below. */
final class Tags {
  static final long SENT = 1L << 60;
  static final long RECEIVED = 2L << 60;
  static final long DATA = 3L << 60;

  /** The number of epochs of a queue pair that are distinguished. */
  static final int EPOCHS = 256;

  /** A flag for the last piece of a work. */
  private static final long LAST = 1L << 59;

  private static final int EPOCH_SHIFT = 51;
  private static final long NUMBER = (1L << EPOCH_SHIFT) - 1;
  private static final long KIND = 7L << 60;

  /** The ID of a piece of work on the peer's memory. */
  static long data(long work, boolean last, int epoch) {
    assert work >>> EPOCH_SHIFT == 0 && epoch >= 0 && epoch < EPOCHS
        : "work " + work + ", epoch " + epoch;
    return DATA | (last ? LAST : 0) | (long) epoch << EPOCH_SHIFT | work;
  }

  static int epoch(long id) {
    return (int) (id >>> EPOCH_SHIFT) & EPOCHS - 1;
  }

  static long kind(long id) {
    return id & KIND;
  }

  static long number(long id) {
    return id & NUMBER;
  }

  static boolean isLast(long id) {
    return (id & LAST) != 0;
  }

  private Tags() {}
}
