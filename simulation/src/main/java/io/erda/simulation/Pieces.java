package io.erda.simulation;

/**
 * The pieces of one READ or WRITE, each of which moves at its own time. The seed assigns words to
 * pieces: by words, by cache lines, or by runs.
 */
final class Pieces {
  private static final int BY_WORDS = 0;
  private static final int BY_LINES = 1;
  private static final int MODES = 3;
  private static final int WORDS_OF_A_LINE_LOG2 = 3;

  final int count;
  private final int mode;
  private final int salt;

  /** Bit set of the pieces that have not moved and are not lost. */
  private int left;

  /**
   * @param kept bit set of the pieces that were not lost on the way
   */
  Pieces(int count, int seed, int kept) {
    assert count > 0 && count < Integer.SIZE : "pieces are bits";
    this.count = count;
    this.left = ((1 << count) - 1) & kept;
    this.mode = (seed >>> 8) % MODES;
    this.salt = seed;
  }

  /** Loses all pieces but these. */
  void keep(int kept) {
    left &= kept;
  }

  boolean isLeft(int piece) {
    return (left & 1 << piece) != 0;
  }

  boolean areNoneLeft() {
    return left == 0;
  }

  void moved(int piece) {
    assert isLeft(piece) : "a piece moves once";
    left &= ~(1 << piece);
  }

  int pieceOf(int word, int words) {
    if (count == 1) {
      return 0;
    }
    return switch (mode) {
      case BY_WORDS -> Integer.remainderUnsigned(mix(word), count);
      case BY_LINES -> Integer.remainderUnsigned(mix(word >>> WORDS_OF_A_LINE_LOG2), count);
      default -> (int) ((long) word * count / words);
    };
  }

  private int mix(int word) {
    int h = (word + salt) * 0x9E3779B9;
    h ^= h >>> 15;
    h *= 0x85EBCA6B;
    return h ^ (h >>> 13);
  }
}
