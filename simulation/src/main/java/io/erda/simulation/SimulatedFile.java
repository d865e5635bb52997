package io.erda.simulation;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.random.RandomGenerator;

/**
 * The bytes of a file: those that all processes see, and those that a power failure would leave.
 *
 * <p>A word is <i>settled</i> when both are equal and stay so, <i>dirty</i> after a store, and
 * <i>written back</i> between flush and drain: then the value at the time of the flush is on its
 * way. Unsettled words are listed, so that the cost of a drain or a power failure depends on the
 * stores, not on the size of the file. Caches may write a dirty word back at any time: when one is
 * overwritten, the seed decides whether the value before had become durable.
 */
final class SimulatedFile {
  static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final byte DIRTY = 1;
  private static final byte WRITTEN_BACK = 2;
  private static final byte LISTED = 4;
  private static final int EVICTION_ODDS = 16;

  /** A short file can grow in place by this many bytes. */
  private static final int RESERVE_BYTES = 1 << 14;

  private static final int SHORT_BYTES = 1 << 15;

  final SimulatedDisk disk;

  /** The order in which files were made. */
  final long number;

  String name;

  /**
   * The bytes, which exist as long as they are referenced: mappings of a NIC or another process
   * outlive the name.
   */
  final MemorySegment image;

  private long length;

  /** The least length after a power failure, bytes. */
  private long durableLength;

  private final long[] durable;
  private final byte[] states;
  private int[] unsettled = new int[16];
  private int unsettledCount;
  private int[] flushedWords = new int[16];
  private long[] flushedValues = new long[16];
  private int flushedCount;

  SimulatedFile(SimulatedDisk disk, String name, long length) {
    this.disk = disk;
    this.number = disk.nextFileNumber();
    this.name = name;
    this.length = length;
    this.durableLength = length;
    long reserved = length < SHORT_BYTES ? RESERVE_BYTES : 0;
    int words = Math.toIntExact((length + reserved + 7) >>> 3);
    MemorySegment whole = Arena.ofAuto().allocate((long) words << 3, 64);
    this.image = whole;
    this.durable = new long[words];
    this.states = new byte[words];
  }

  /**
   * A file with the same settled bytes and another length: a short file, like a copy that was cut.
   */
  SimulatedFile cut(long newLength) {
    SimulatedFile file = new SimulatedFile(disk, name, newLength);
    long common = Math.min(length, newLength);
    MemorySegment.copy(image, 0, file.image, 0, common);
    for (int word = 0; word < (newLength + 7) >>> 3; word++) {
      file.durable[word] = file.image.get(WORD, (long) word << 3);
    }
    return file;
  }

  /** Length, bytes. */
  long length() {
    return length;
  }

  /**
   * Grows in place: the new bytes are zeros, which processes that have mapped the file can access.
   */
  void lengthen(long newLength) {
    if (newLength > image.byteSize()) {
      throw new UnsupportedOperationException(
          name + " has no room where it lies for " + newLength + " bytes");
    }
    length = Math.max(length, newLength);
  }

  /** Makes the length durable. */
  void settleLength() {
    durableLength = length;
  }

  long durableWord(long offset) {
    return durable[(int) (offset >>> 3)];
  }

  /** Makes one word visible. All stores, of CPUs and NICs, use this method. */
  void storeWord(int word, long value) {
    long offset = (long) word << 3;
    if (disk.domain.durableWhenVisible()) {
      image.set(WORD, offset, value);
      durable[word] = value;
      return;
    }
    byte state = states[word];
    // This does not happen while an older value is being written back, because the older value must
    // not arrive after a newer one.
    if ((state & (DIRTY | WRITTEN_BACK)) == DIRTY
        && disk.random.nextInt(EVICTION_ODDS) == 0
        && disk.domain.drainsToDurable()) {
      durable[word] = image.get(WORD, offset);
    }
    image.set(WORD, offset, value);
    list(word, state);
    states[word] = (byte) (state | DIRTY | LISTED);
  }

  /**
   * Makes the bytes of {@code value} visible whose bits are set in {@code mask}; the others of the
   * word stay.
   */
  void storeMasked(int word, long value, long mask) {
    storeWord(
        word, mask == -1 ? value : (image.get(WORD, (long) word << 3) & ~mask) | (value & mask));
  }

  private void list(int word, byte state) {
    if ((state & LISTED) != 0) {
      return;
    }
    if (unsettledCount == unsettled.length) {
      unsettled = Arrays.copyOf(unsettled, 2 * unsettledCount);
    }
    unsettled[unsettledCount++] = word;
  }

  /** Starts the write-back of a word if it is dirty. */
  void flushWord(int word) {
    byte state = states[word];
    if ((state & DIRTY) == 0) {
      return;
    }
    if (flushedCount == flushedWords.length) {
      flushedWords = Arrays.copyOf(flushedWords, 2 * flushedCount);
      flushedValues = Arrays.copyOf(flushedValues, 2 * flushedCount);
    }
    flushedWords[flushedCount] = word;
    flushedValues[flushedCount++] = image.get(WORD, (long) word << 3);
    states[word] = (byte) ((state & ~DIRTY) | WRITTEN_BACK);
  }

  /** Ends all write-backs. A word stored again since its flush stays dirty. */
  void drain() {
    if (!disk.domain.drainsToDurable()) {
      return;
    }
    for (int i = 0; i < flushedCount; i++) {
      int word = flushedWords[i];
      if ((states[word] & WRITTEN_BACK) != 0) {
        durable[word] = flushedValues[i];
      }
    }
    for (int i = 0; i < flushedCount; i++) {
      states[flushedWords[i]] &= ~WRITTEN_BACK;
    }
    flushedCount = 0;
    forgetSettled();
  }

  private void forgetSettled() {
    int kept = 0;
    for (int i = 0; i < unsettledCount; i++) {
      int word = unsettled[i];
      if ((states[word] & (DIRTY | WRITTEN_BACK)) != 0) {
        unsettled[kept++] = word;
      } else {
        states[word] = 0;
      }
    }
    unsettledCount = kept;
  }

  /**
   * Makes bytes durable that a NIC flushed by itself (FLUSH, if it reaches the persistence domain).
   */
  void settle(long offset, long bytes) {
    int first = (int) (offset >>> 3);
    int end = (int) ((offset + bytes + 7) >>> 3);
    for (int word = first; word < end; word++) {
      durable[word] = image.get(WORD, (long) word << 3);
      states[word] &= ~(DIRTY | WRITTEN_BACK);
    }
    int kept = 0;
    for (int i = 0; i < flushedCount; i++) {
      if (flushedWords[i] < first || flushedWords[i] >= end) {
        flushedWords[kept] = flushedWords[i];
        flushedValues[kept++] = flushedValues[i];
      }
    }
    flushedCount = kept;
  }

  /** Makes all visible bytes durable. */
  void settleAll() {
    settleLength();
    for (int i = 0; i < unsettledCount; i++) {
      int word = unsettled[i];
      durable[word] = image.get(WORD, (long) word << 3);
      states[word] = 0;
    }
    unsettledCount = 0;
    flushedCount = 0;
  }

  /**
   * Whether the bytes of a range are durable as they are visible. Bytes behind the range in its
   * last word do not belong to it, and may change later.
   *
   * @param offset a multiple of 8
   */
  boolean settled(long offset, long bytes) {
    long end = offset + bytes;
    for (long at = offset; at < end; at += Long.BYTES) {
      long differs = durable[(int) (at >>> 3)] ^ image.get(WORD, at);
      long ofStretch = end - at >= Long.BYTES ? -1 : (1L << Byte.SIZE * (end - at)) - 1;
      if ((differs & ofStretch) != 0) {
        return false;
      }
    }
    return true;
  }

  /** Number of words that a power failure may lose. */
  int unsettledWords() {
    return unsettledCount;
  }

  /**
   * Sets every unsettled word, by the seed, to the durable value, one that was being written back,
   * or the visible one; then all is settled. Some failures lose everything or nothing, others most
   * or few, because bugs need different ones.
   */
  int powerFailure(RandomGenerator random) {
    int lost = 0;
    int oddsOfLoss = random.nextInt(9);
    // When a word was flushed more than once its latest value is last in the list: walk forwards.
    for (int i = 0; i < flushedCount; i++) {
      int word = flushedWords[i];
      if ((states[word] & WRITTEN_BACK) != 0 && random.nextInt(8) >= oddsOfLoss) {
        durable[word] = flushedValues[i];
      }
    }
    for (int i = 0; i < unsettledCount; i++) {
      int word = unsettled[i];
      long offset = (long) word << 3;
      if (random.nextInt(8) >= oddsOfLoss) {
        durable[word] = image.get(WORD, offset);
      }
      if (image.get(WORD, offset) != durable[word]) {
        image.set(WORD, offset, durable[word]);
        lost++;
      }
      states[word] = 0;
    }
    unsettledCount = 0;
    flushedCount = 0;
    if (durableLength < length) {
      shorten(random.nextLong(durableLength, length + 1));
    }
    return lost;
  }

  private void shorten(long newLength) {
    length = newLength;
    settleLength();
    image.asSlice(length).fill((byte) 0);
    for (int word = (int) (length >>> 3); word < durable.length; word++) {
      durable[word] = image.get(WORD, (long) word << 3);
    }
  }

  /**
   * Handles the death of the process that flushed: words on their way are dirty again. Nothing is
   * lost.
   */
  void processCrash() {
    for (int i = 0; i < flushedCount; i++) {
      int word = flushedWords[i];
      if ((states[word] & WRITTEN_BACK) != 0) {
        states[word] = (byte) (states[word] & ~WRITTEN_BACK | DIRTY);
      }
    }
    flushedCount = 0;
  }

  /** Changes a byte on the medium. */
  void corrupt(long offset, int xor) {
    int word = (int) (offset >>> 3);
    long flipped = (xor & 0xffL) << ((offset & 7) << 3);
    image.set(WORD, (long) word << 3, image.get(WORD, (long) word << 3) ^ flipped);
    durable[word] ^= flipped;
  }
}
