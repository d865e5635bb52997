package io.erda.rdma.tcp;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The bytes that wait for the socket. Frames are built in place, at {@link #at()}, and then added.
 */
final class OutBuffer {
  private MemorySegment memory;
  private ByteBuffer bytes;
  private int sent;
  private int filled;
  private final CRC32C checksum = new CRC32C();

  OutBuffer(MemorySegment memory) {
    this.memory = memory;
    this.bytes = memory.asByteBuffer();
  }

  MemorySegment memory() {
    return memory;
  }

  /** Moves the bytes to a larger memory. */
  void moveTo(MemorySegment larger) {
    int base = sent & ~7;
    MemorySegment.copy(memory, base, larger, 0, filled - base);
    memory = larger;
    bytes = larger.asByteBuffer();
    sent -= base;
    filled -= base;
  }

  /** Returns the offset at which the next frame begins. */
  int at() {
    return filled;
  }

  /**
   * Whether there is room for a frame of {@code frameBytes} bytes. Waiting bytes may be moved over
   * bytes that were sent to make room.
   */
  boolean hasRoom(int frameBytes) {
    if (memory.byteSize() - filled >= frameBytes) {
      return true;
    }
    int base = sent & ~7;
    if (base > 0) {
      MemorySegment.copy(memory, base, memory, 0, filled - base);
      sent -= base;
      filled -= base;
    }
    return memory.byteSize() - filled >= frameBytes;
  }

  /** Adds the frame at {@link #at()}, whose payload was put behind the place of its header. */
  void addFrame(int payload, int type, int flags, int status, long ended, long consumed) {
    assert Frame.HEADER_BYTES + Frame.padded(payload) <= memory.byteSize() - filled
        : payload + " bytes of payload behind " + filled + " of " + memory.byteSize();
    Frame.put(memory, filled, payload, type, flags, status, ended, consumed);
    Frame.seal(checksum, memory, bytes, filled);
    filled += Frame.HEADER_BYTES + Frame.padded(payload);
  }

  void addHello(boolean hasSecret, byte[] nonce) {
    Hello.put(checksum, memory, bytes, filled, hasSecret, nonce);
    filled += Hello.BYTES;
  }

  int waiting() {
    return filled - sent;
  }

  /** Sends as many bytes as the socket takes. Returns whether all bytes were sent. */
  boolean flush(Transport transport) throws IOException {
    if (filled > sent) {
      bytes.limit(filled).position(sent);
      transport.write(bytes);
      sent = bytes.position();
      if (sent == filled) {
        sent = 0;
        filled = 0;
      }
    } else if (transport.isWaiting()) {
      transport.flush();
    }
    return sent == filled && !transport.isWaiting();
  }
}
