package io.erda.protocol;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The root: one cache line that every get READs after the neighbourhood. 64-aligned; each word is
 * stored and loaded atomically.
 *
 * <pre>
 *   0   incarnation         8   of the server; changes at every start, never 0
 *   8   epoch               8   of the region map and the table's geometry; grows
 *  16   structure counter   8   odd while an entry is being moved
 *  24   layout version      8
 *  32   boot                8   of the machine on which the incarnation began to serve; 0: not known;
 *                               {@link #NO_BOOT}: the names of files lead elsewhere
 *  40   zero               24
 * </pre>
 */
public final class Root {
  /** The name of the root's file. */
  public static final String FILE = "root";

  /** Bytes. */
  public static final int BYTES = 64;

  /** The bytes of the root that a look-up READs: incarnation, epoch and structure counter. */
  public static final int LOOK_UP_BYTES = 24;

  public static final int INCARNATION_OFFSET = 0;
  public static final int EPOCH_OFFSET = 8;
  public static final int STRUCTURE_COUNTER_OFFSET = 16;
  public static final int LAYOUT_VERSION_OFFSET = 24;
  public static final int BOOT_OFFSET = 32;

  /**
   * The bytes of all words that are in use. A reader of the files reads them before and after it
   * reads a map.
   */
  public static final int WORDS_BYTES = 40;

  /** In place of a boot, which has 32 bits: the files must not be read by their names. */
  public static final long NO_BOOT = 1L << 32;

  static {
    assert STRUCTURE_COUNTER_OFFSET + Long.BYTES == LOOK_UP_BYTES
            && BOOT_OFFSET + Long.BYTES == WORDS_BYTES
            && WORDS_BYTES <= BYTES
        : "a look-up READs the first words of the root";
  }

  private static final VarHandle WORD =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  public static long incarnation(MemorySegment memory, long base) {
    return (long) WORD.getAcquire(memory, base + INCARNATION_OFFSET);
  }

  public static long epoch(MemorySegment memory, long base) {
    return (long) WORD.getAcquire(memory, base + EPOCH_OFFSET);
  }

  public static long structureCounter(MemorySegment memory, long base) {
    return (long) WORD.getAcquire(memory, base + STRUCTURE_COUNTER_OFFSET);
  }

  public static long layoutVersion(MemorySegment memory, long base) {
    return (long) WORD.getAcquire(memory, base + LAYOUT_VERSION_OFFSET);
  }

  /** The value of {@code MemoryDirectory.boot()} when the incarnation began to serve. */
  public static long boot(MemorySegment memory, long base) {
    return (long) WORD.getAcquire(memory, base + BOOT_OFFSET);
  }

  private Root() {}
}
