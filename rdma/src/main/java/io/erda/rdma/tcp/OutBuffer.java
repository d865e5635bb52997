package io.erda.rdma.tcp;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** What waits for the socket. Frames are built in place, at {@link #at()}, and then added. */
final class OutBuffer {
  private MemorySegment memory;
  private ByteBuffer bytes;
  private int sent;
  private int filled;

  OutBuffer(MemorySegment memory) {
    this.memory = memory;
    this.bytes = memory.asByteBuffer();
  }

  MemorySegment memory() {
    return memory;
  }

  /** Goes on in a larger memory. */
  void moveTo(MemorySegment larger) {
    int base = sent & ~7;
    MemorySegment.copy(memory, base, larger, 0, filled - base);
    memory = larger;
    bytes = larger.asByteBuffer();
    sent -= base;
    filled -= base;
  }

  /** Where the next frame begins. */
  int at() {
    return filled;
  }

  /** Whether a frame of so many bytes finds room; what was sent may be moved away for it. */
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

  void add(int frameBytes) {
    filled += frameBytes;
  }

  int waiting() {
    return filled - sent;
  }

  /** Sends what the socket takes. Returns whether nothing is left. */
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
