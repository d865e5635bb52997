package io.erda.rdma.tcp;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Bytes that have arrived and were not used yet. They are taken in multiples of 8, so that all
 * frames begin 8-aligned.
 */
final class InBuffer {
  private MemorySegment memory;
  private ByteBuffer bytes;
  private int from;
  private int to;
  private final CRC32C checksum = new CRC32C();

  /** Whether the checksum of the next frame was found right, so that it is computed only once. */
  private boolean sound;

  /** The number of the next frame. */
  private int number;

  InBuffer(MemorySegment memory) {
    this.memory = memory;
    this.bytes = memory.asByteBuffer();
  }

  MemorySegment memory() {
    return memory;
  }

  /** Moves the bytes to a larger memory. */
  void moveTo(MemorySegment larger) {
    MemorySegment.copy(memory, from, larger, 0, to - from);
    memory = larger;
    bytes = larger.asByteBuffer();
    to -= from;
    from = 0;
  }

  /** Reads as many bytes as there is room for. The result is that of {@link Transport#read}. */
  int fill(Transport transport) throws IOException {
    if (from == to) {
      from = 0;
      to = 0;
    } else if (from > 0 && memory.byteSize() - to < Frame.BYTES_MAX) {
      MemorySegment.copy(memory, from, memory, 0, to - from);
      to -= from;
      from = 0;
    }
    if (to == memory.byteSize()) {
      return 0;
    }
    bytes.limit(bytes.capacity()).position(to);
    int read = transport.read(bytes);
    to += Math.max(0, read);
    assert (from & 7) == 0 && from <= to && to <= memory.byteSize()
        : "from " + from + " to " + to + " of " + memory.byteSize();
    return read;
  }

  boolean isFull() {
    return to == memory.byteSize();
  }

  /** Returns the offset of the first unused byte. */
  int at() {
    return from;
  }

  int available() {
    return to - from;
  }

  void take(int taken) {
    assert (taken & 7) == 0 && taken <= available() : taken + " bytes of " + available();
    from += taken;
    number += sound ? 1 : 0;
    sound = false;
  }

  /** Whether the checksum of the next HELLO is right. REQUIRES: the whole HELLO has arrived. */
  boolean isHelloSound() {
    return Hello.isSound(checksum, memory, bytes, from);
  }

  /**
   * Returns the length of the next frame if the whole frame has arrived; 0 when it has not, {@link
   * Frame#WRONG} when it is invalid, {@link Frame#DAMAGED} when its bytes were changed during the
   * transfer, or it is not the frame that follows.
   */
  int frame(int bytesMax) {
    if (available() < Frame.HEADER_BYTES) {
      return 0;
    }
    int length = Frame.bytes(memory, from, bytesMax);
    if (length < 0) {
      return length;
    }
    if (length > available()) {
      return 0;
    }
    if (!sound && !Frame.isSound(checksum, memory, bytes, from, number)) {
      return Frame.DAMAGED;
    }
    sound = true;
    return Frame.isReservedZero(memory, from) ? length : Frame.WRONG;
  }
}
