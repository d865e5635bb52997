package io.erda.rdma.tcp;

import io.erda.rdma.Device;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The layout of a frame: a header of 32 bytes and a payload that is padded to a multiple of 8, so
 * that in a buffer every frame begins 8-aligned. A frame begins with the CRC32C of the rest of it,
 * combined with the number of the frame. See {@code FORMAT-tcp.md}.
 */
final class Frame {
  static final int HEADER_BYTES = 32;

  /** The bytes before the data in the payload of a WRITE. */
  static final int WRITE_HEADER_BYTES = 24;

  /** The most data of one frame. Longer READs and WRITEs take several frames. */
  static final int DATA_BYTES_MAX = 16 << 10;

  static final int PAYLOAD_BYTES_MAX = WRITE_HEADER_BYTES + DATA_BYTES_MAX;
  static final int BYTES_MAX = HEADER_BYTES + PAYLOAD_BYTES_MAX;

  /**
   * The most READs of one frame: three for each of eight gets, and one more. Of 16 gets in flight,
   * one half is then served while the client posts the other half.
   */
  static final int READS_MAX = 25;

  /** The longest frame of a handshake: a proof and private data. */
  static final int HANDSHAKE_BYTES_MAX = 256;

  /**
   * The most bytes of messages, each padded and with {@link #MESSAGE_OVERHEAD}, that may be in
   * transit to an end or not yet consumed there. An end has more room than that.
   */
  static final int WINDOW_BYTES = (48 << 10) - 64;

  static final int MESSAGE_OVERHEAD = 8;

  // The types of a requester's frames. A new type needs a case in ServedConnection.onFrame.
  static final int CONNECT = 1;
  static final int READ = 2;
  static final int WRITE = 3;
  static final int SEND = 4;
  static final int ATOMIC_WRITE = 5;
  static final int COMPARE_AND_SWAP = 6;
  static final int FLUSH = 7;
  static final int WITHDRAW = 8;
  static final int CREDIT = 9;

  // The types of a responder's frames. A new type needs a case in TcpQueuePair.onFrame.
  static final int ACCEPT = 32;
  static final int REJECT = 33;
  static final int DATA = 34;
  static final int DONE = 35;
  static final int MESSAGE = 36;
  static final int WITHDRAWN = 37;

  // Flags.
  static final int ACK = 1;
  static final int MORE = 2;
  static final int IMM = 4;
  static final int LAST = 8;

  // Offsets of the header.
  private static final int CHECKSUM = 0;
  private static final int LENGTH = 4;
  private static final int TYPE = 8;
  private static final int FLAGS = 9;
  private static final int STATUS = 10;
  private static final int RESERVED = 11;

  /**
   * The complement of the length, by which an end detects a damaged length instead of waiting for
   * that many bytes.
   */
  private static final int LENGTH_COMPLEMENT = 12;

  private static final int ENDED = 16;
  private static final int CONSUMED = 24;

  // Offsets of payloads, from the beginning of the frame; for a later READ of a frame, as if its
  // bytes were the first of the payload.
  static final int KEY = HEADER_BYTES;
  static final int OFFSET = HEADER_BYTES + 8;
  static final int WRITE_IMM = HEADER_BYTES + 16;
  static final int WRITE_TOTAL = HEADER_BYTES + 20;
  static final int WRITE_DATA = HEADER_BYTES + WRITE_HEADER_BYTES;
  static final int LENGTH_OF = HEADER_BYTES + 16;
  static final int VALUE = HEADER_BYTES + 16;
  static final int EXPECTED = HEADER_BYTES + 24;
  static final int CLAIMED = HEADER_BYTES;
  static final int FINISHED = HEADER_BYTES + 8;
  static final int PROOF = HEADER_BYTES;
  static final int PRIVATE_DATA = HEADER_BYTES + Hello.PROOF_BYTES;

  // Exact payload lengths; of a READ for each READ of the frame.
  static final int READ_BYTES = 24;
  static final int ATOMIC_WRITE_BYTES = 24;
  static final int COMPARE_AND_SWAP_BYTES = 32;
  static final int FLUSH_BYTES = 24;
  static final int WITHDRAWN_BYTES = 16;

  /** Stands for a length that no frame has. */
  static final int WRONG = -1;

  /** Stands for bytes that were changed during the transfer. */
  static final int DAMAGED = -2;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  static {
    assert CONSUMED + Long.BYTES == HEADER_BYTES : "the header ends with the consumed bytes";
    assert WRITE_TOTAL + Integer.BYTES == WRITE_DATA : "a WRITE's data follow its fields";
    assert LENGTH_OF + Long.BYTES == HEADER_BYTES + READ_BYTES
            && EXPECTED + Long.BYTES == HEADER_BYTES + COMPARE_AND_SWAP_BYTES
            && FINISHED + Long.BYTES == HEADER_BYTES + WITHDRAWN_BYTES
        : "payloads end with their last fields";
    assert PRIVATE_DATA + Device.PRIVATE_DATA_MAX <= HANDSHAKE_BYTES_MAX
        : "a frame of a handshake takes the longest private data";
  }

  private Frame() {}

  static int padded(int bytes) {
    return bytes + 7 & ~7;
  }

  /**
   * Returns the length of the frame that begins at {@code at}, by its header; {@link #WRONG} when
   * no frame has that length, {@link #DAMAGED} when the length was changed during the transfer.
   * REQUIRES: the whole header has arrived.
   */
  static int bytes(MemorySegment memory, long at, int bytesMax) {
    int payload = payload(memory, at);
    if (payload != ~memory.get(INT, at + LENGTH_COMPLEMENT)) {
      return DAMAGED;
    }
    boolean possible = payload >= 0 && payload <= bytesMax - HEADER_BYTES;
    return possible ? HEADER_BYTES + padded(payload) : WRONG;
  }

  static void put(
      MemorySegment memory,
      long at,
      int payload,
      int type,
      int flags,
      int status,
      long ended,
      long consumed) {
    assert payload >= 0 && payload <= PAYLOAD_BYTES_MAX : payload;
    assert (type | flags | status) >>> 8 == 0
        : "type " + type + ", flags " + flags + ", status " + status;
    putLength(memory, at, payload);
    memory.set(INT, at + TYPE, type | flags << 8 | status << 16);
    memory.set(LONG, at + ENDED, ended);
    memory.set(LONG, at + CONSUMED, consumed);
    if ((payload & 7) != 0) {
      // The padding is sent, so it must not contain bytes of an earlier frame.
      long end = at + HEADER_BYTES + payload;
      for (long pad = end; pad < at + HEADER_BYTES + padded(payload); pad++) {
        memory.set(ValueLayout.JAVA_BYTE, pad, (byte) 0);
      }
    }
  }

  static void putLength(MemorySegment memory, long at, int payload) {
    memory.set(INT, at + LENGTH, payload);
    memory.set(INT, at + LENGTH_COMPLEMENT, ~payload);
  }

  /**
   * Stores the checksum of a frame that is complete.
   *
   * @param bytes the same memory; its position and limit change
   * @param number of the frame, from 0, among those that its end has sent; it may overflow
   */
  static void seal(CRC32C checksum, MemorySegment memory, ByteBuffer bytes, int at, int number) {
    memory.set(INT, at + CHECKSUM, frameChecksum(checksum, memory, bytes, at) ^ number);
  }

  /**
   * Whether the checksum of a frame is right, and the frame is the one with this number. REQUIRES:
   * all {@link #bytes} of the frame have arrived.
   */
  static boolean isSound(
      CRC32C checksum, MemorySegment memory, ByteBuffer bytes, int at, int number) {
    return memory.get(INT, at + CHECKSUM) == (frameChecksum(checksum, memory, bytes, at) ^ number);
  }

  /** Whether the reserved byte is zero, as in every frame of this version. */
  static boolean isReservedZero(MemorySegment memory, long at) {
    return memory.get(ValueLayout.JAVA_BYTE, at + RESERVED) == 0;
  }

  private static int frameChecksum(
      CRC32C checksum, MemorySegment memory, ByteBuffer bytes, int at) {
    int covered = HEADER_BYTES + padded(payload(memory, at)) - LENGTH;
    return checksum(checksum, bytes, at + LENGTH, covered);
  }

  /** The CRC32C of some bytes; the buffer's position and limit change. */
  static int checksum(CRC32C checksum, ByteBuffer bytes, int from, int length) {
    checksum.reset();
    checksum.update(bytes.limit(from + length).position(from));
    return (int) checksum.getValue();
  }

  static int payload(MemorySegment memory, long at) {
    return memory.get(INT, at + LENGTH);
  }

  static int type(MemorySegment memory, long at) {
    return memory.get(ValueLayout.JAVA_BYTE, at + TYPE) & 0xff;
  }

  static int flags(MemorySegment memory, long at) {
    return memory.get(ValueLayout.JAVA_BYTE, at + FLAGS) & 0xff;
  }

  static int status(MemorySegment memory, long at) {
    return memory.get(ValueLayout.JAVA_BYTE, at + STATUS) & 0xff;
  }

  /** Returns the number of requests that have ended; 0 in a requester's frame. */
  static long ended(MemorySegment memory, long at) {
    return memory.get(LONG, at + ENDED);
  }

  /** Returns the bytes of messages that the sender of the frame has consumed. */
  static long consumed(MemorySegment memory, long at) {
    return memory.get(LONG, at + CONSUMED);
  }

  static int getInt(MemorySegment memory, long at) {
    return memory.get(INT, at);
  }

  static long getLong(MemorySegment memory, long at) {
    return memory.get(LONG, at);
  }

  static void putInt(MemorySegment memory, long at, int value) {
    memory.set(INT, at, value);
  }

  static void putLong(MemorySegment memory, long at, long value) {
    memory.set(LONG, at, value);
  }
}
