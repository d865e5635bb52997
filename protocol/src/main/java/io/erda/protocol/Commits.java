package io.erda.protocol;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The file by which a server and clients of its own user exclude each other, so that such clients
 * can commit updates by themselves: the number of the server's turn, and a line for each client. A
 * flyweight; see {@code FORMAT.md}. Each word is stored and loaded atomically.
 *
 * <pre>
 *     0  magic "ERDACOMM"     8
 *     8  version              4 | 12  lines  4
 *   128  turn                 8   grows for ever; odd while a step of the server is under way
 *   136  table                8   the number of the table in which clients commit; 0: in none
 *   144  copied               8   the number of a table that an opening replaces by a copy; 0: none
 *   152  copied               8   of another one
 *  4096  line 0, line 1, …
 *
 *     A line, {@link #LINE_BYTES} bytes:
 *     0  serial               8   of the record that stands; 0: none does. Stored last, cleared first
 *     8  key word             8   of the entry that is about to be changed
 *    16  slot                 8   of the entry
 *    24  table                8   its number
 *    32  expected word        8
 *    40  offset               8   of the new object: the newest version of the word that is to come
 *   128  puts                 8   that the client has committed since it got the line
 *   136  deletes              8
 *   144  bytes                8   of their objects, with padding
 *  1024  {@link #SUMS} sums,   16 each: head and index of a region, or 0; change of its live bytes
 *  2048  {@link #LEASES} leases, 16 each: number of the reservation, stored by the server, or 0;
 *                                 the place up to which the client has committed
 * </pre>
 */
public final class Commits {
  /** The name of the file in the directory of the store. */
  public static final String FILE = "commits";

  /** The version of these bytes. A client of another version lets the server commit. */
  public static final int VERSION = 1;

  /** "ERDACOMM". */
  public static final long MAGIC = 0x4D4D_4F43_4144_5245L;

  /** How many clients may commit at a time. */
  public static final int LINES = 64;

  public static final int SUMS = 64;
  public static final int LEASES = 64;

  public static final long MAGIC_OFFSET = 0;
  public static final long VERSION_OFFSET = 8;
  public static final long TURN_OFFSET = 128;
  public static final long TABLE_OFFSET = 136;
  public static final long COPIED_OFFSET = 144;

  /** How many tables an opening may replace by copies. */
  public static final int COPIED = 2;

  public static final long LINES_OFFSET = 4096;
  public static final long LINE_BYTES = 4096;
  public static final long BYTES = LINES_OFFSET + LINES * LINE_BYTES;

  // The words of a line.

  public static final long SERIAL = 0;
  public static final long KEY_WORD = 8;
  public static final long SLOT = 16;
  public static final long TABLE = 24;
  public static final long EXPECTED = 32;
  public static final long OFFSET = 40;
  public static final long PUTS = 128;
  public static final long DELETES = 136;
  public static final long PUT_BYTES = 144;
  private static final long SUMS_OFFSET = 1024;
  private static final long LEASES_OFFSET = 2048;
  private static final long PAIR_BYTES = 16;

  /** Where the second word of a pair is. */
  public static final long SECOND = 8;

  static {
    assert TURN_OFFSET % 128 == 0 && PUTS % 128 == 0 && LINES_OFFSET % 128 == 0
        : "what different ends store to lies in different pairs of cache lines";
    assert PUT_BYTES < SUMS_OFFSET
            && SUMS_OFFSET + SUMS * PAIR_BYTES <= LEASES_OFFSET
            && LEASES_OFFSET + LEASES * PAIR_BYTES <= LINE_BYTES
        : "the parts of a line do not overlap";
  }

  private static final VarHandle WORD =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  private Commits() {}

  /** Returns where a line begins. */
  public static long line(int number) {
    return LINES_OFFSET + number * LINE_BYTES;
  }

  /** Returns where a sum of a line is. */
  public static long sum(long line, int number) {
    return line + SUMS_OFFSET + number * PAIR_BYTES;
  }

  /** Returns where a lease of a line is. */
  public static long lease(long line, int number) {
    return line + LEASES_OFFSET + number * PAIR_BYTES;
  }

  /** The first word of a sum: it names a region of a head. Never 0. */
  public static long region(int head, int index) {
    return 1L << 63 | (long) head << 32 | index;
  }

  public static int headOf(long region) {
    return (int) (region >>> 32) & 0xFFFF;
  }

  public static int indexOf(long region) {
    return (int) region;
  }

  /** Loads a word, before all later loads and stores. */
  public static long load(MemorySegment memory, long offset) {
    return (long) WORD.getAcquire(memory, offset);
  }

  /** Stores a word, after all earlier loads and stores. */
  public static void store(MemorySegment memory, long offset, long value) {
    WORD.setRelease(memory, offset, value);
  }

  /** The word with version and number of lines. */
  public static long versionAndLines() {
    return (long) LINES << 32 | VERSION;
  }

  /** Whether memory is such a file, of this version. */
  public static boolean isValid(MemorySegment memory) {
    return memory.byteSize() >= BYTES
        && load(memory, MAGIC_OFFSET) == MAGIC
        && load(memory, VERSION_OFFSET) == versionAndLines();
  }

  /** Whether a server's step is under way. */
  public static boolean isOdd(long turn) {
    return (turn & 1) != 0;
  }

  // What a client stores to its own line.

  /**
   * Stores a record, and after a full fence returns the number of the turn. If that is the one that
   * the client has noted, no step of the server goes on until the record is cleared.
   */
  public static long stand(
      MemorySegment memory,
      long line,
      long serial,
      long keyWord,
      long slot,
      long table,
      long expected,
      long offset) {
    store(memory, line + KEY_WORD, keyWord);
    store(memory, line + SLOT, slot);
    store(memory, line + TABLE, table);
    store(memory, line + EXPECTED, expected);
    store(memory, line + OFFSET, offset);
    store(memory, line + SERIAL, serial);
    VarHandle.fullFence();
    return load(memory, TURN_OFFSET);
  }

  /** Clears the record, after all earlier stores. */
  public static void clear(MemorySegment memory, long line) {
    store(memory, line + SERIAL, 0);
  }

  /** Adds to a word that only the calling end stores to. */
  public static void add(MemorySegment memory, long offset, long value) {
    store(memory, offset, load(memory, offset) + value);
  }
}
