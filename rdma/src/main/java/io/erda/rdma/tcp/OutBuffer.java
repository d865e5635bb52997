package io.erda.rdma.tcp;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The bytes that wait for the socket. Frames are built in place, at {@link #at()}, and then added.
 *
 * <p>A frame of several parts is built part by part. It is open, and grows, until something else is
 * added or sent.
 */
final class OutBuffer {
  private MemorySegment memory;
  private ByteBuffer bytes;
  private int sent;
  private int filled;
  private final CRC32C checksum = new CRC32C();

  /** The number of frames that were sealed. */
  private int sealed;

  /** The offset of the open frame; −1 while there is none. */
  private int open = -1;

  private int openType;

  OutBuffer(MemorySegment memory) {
    this.memory = memory;
    this.bytes = memory.asByteBuffer();
  }

  MemorySegment memory() {
    return memory;
  }

  /** Moves the bytes to a larger memory. */
  void moveTo(MemorySegment larger) {
    close();
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
      open = open < 0 ? open : open - base;
    }
    return memory.byteSize() - filled >= frameBytes;
  }

  /**
   * Returns where the next part of a frame of this type goes: at the end of the open frame, or in a
   * new one. REQUIRES: there is room for a header and the part.
   *
   * @param payloadMax the most bytes of one frame's payload
   */
  int partAt(int type, int bytes, int payloadMax) {
    if (open >= 0 && (openType != type || openPayload() + bytes > payloadMax)) {
      close();
    }
    return open >= 0 ? filled : filled + Frame.HEADER_BYTES;
  }

  /**
   * Adds the part that was put at {@link #partAt}, with its padding. The flags, and the counts, are
   * those of the frame that ends with this part.
   */
  void addPart(int type, int bytes, int flags, long ended, long consumed) {
    if (open < 0) {
      open = filled;
      openType = type;
      filled += Frame.HEADER_BYTES;
    }
    Frame.put(memory, open, openPayload() + bytes, type, flags, 0, ended, consumed);
    filled += Frame.padded(bytes);
  }

  private int openPayload() {
    return filled - open - Frame.HEADER_BYTES;
  }

  /** Ends the open frame, if there is one. */
  private void close() {
    if (open >= 0) {
      Frame.seal(checksum, memory, bytes, open, sealed++);
      open = -1;
    }
  }

  /** Adds the frame at {@link #at()}, whose payload was put behind the place of its header. */
  void addFrame(int payload, int type, int flags, int status, long ended, long consumed) {
    close();
    assert Frame.HEADER_BYTES + Frame.padded(payload) <= memory.byteSize() - filled
        : payload + " bytes of payload behind " + filled + " of " + memory.byteSize();
    Frame.put(memory, filled, payload, type, flags, status, ended, consumed);
    Frame.seal(checksum, memory, bytes, filled, sealed++);
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
    close();
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
