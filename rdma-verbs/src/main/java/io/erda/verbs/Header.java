package io.erda.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The header of every message, 64 bytes, little-endian; see FORMAT.md.
 *
 * <pre>
 *   0 kind       4 length     8 immediate data   12 consumed
 *  16 argument              24 finished
 *  32 READs                 40 bytes READ
 *  48 WRITEs                56 bytes WRITTEN
 * </pre>
 */
final class Header {
  static final int BYTES = 64;
  static final int MAGIC = 0x4552_0001;

  static final int HELLO = 1;
  static final int ACCEPT = 2;
  static final int REJECT = 3;
  static final int MESSAGE = 4;
  static final int WRITTEN = 5;
  static final int CREDIT = 6;
  static final int WITHDRAW = 7;
  static final int WITHDRAWN = 8;
  static final int FINISHED = 9;
  static final int RESYNC = 10;
  static final int RESYNCED = 11;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int LENGTH = 4;
  private static final int IMM = 8;
  private static final int CONSUMED = 12;
  private static final int ARGUMENT = 16;
  private static final int FINISHED_COUNT = 24;
  private static final int READS = 32;
  private static final int BYTES_READ = 40;
  private static final int WRITES = 48;
  private static final int BYTES_WRITTEN = 56;

  static void set(MemorySegment to, long at, int kind, int length, int imm, long argument) {
    to.set(INT, at, kind);
    to.set(INT, at + LENGTH, length);
    to.set(INT, at + IMM, imm);
    to.set(LONG, at + ARGUMENT, argument);
  }

  /** Sets the counts of the sender, which are in every message. */
  static void setState(MemorySegment to, long at, int consumed, long finished, Moved moved) {
    to.set(INT, at + CONSUMED, consumed);
    to.set(LONG, at + FINISHED_COUNT, finished);
    to.set(LONG, at + READS, moved.reads);
    to.set(LONG, at + BYTES_READ, moved.bytesRead);
    to.set(LONG, at + WRITES, moved.writes);
    to.set(LONG, at + BYTES_WRITTEN, moved.bytesWritten);
  }

  static int kind(MemorySegment from, long at) {
    return from.get(INT, at);
  }

  static int length(MemorySegment from, long at) {
    return from.get(INT, at + LENGTH);
  }

  static int imm(MemorySegment from, long at) {
    return from.get(INT, at + IMM);
  }

  static long argument(MemorySegment from, long at) {
    return from.get(LONG, at + ARGUMENT);
  }

  static int consumed(MemorySegment from, long at) {
    return from.get(INT, at + CONSUMED);
  }

  static long finished(MemorySegment from, long at) {
    return from.get(LONG, at + FINISHED_COUNT);
  }

  static void moved(MemorySegment from, long at, Moved to) {
    to.reads = from.get(LONG, at + READS);
    to.bytesRead = from.get(LONG, at + BYTES_READ);
    to.writes = from.get(LONG, at + WRITES);
    to.bytesWritten = from.get(LONG, at + BYTES_WRITTEN);
  }

  static {
    assert BYTES_WRITTEN + Long.BYTES == BYTES : "the header ends with its last field";
  }

  private Header() {}
}
