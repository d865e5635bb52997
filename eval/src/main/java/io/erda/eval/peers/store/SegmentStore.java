package io.erda.eval.peers.store;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A store whose client takes memory segments: they lie outside of the heap. */
abstract class SegmentStore implements PeerStore {
  final MemorySegment key = Arena.ofAuto().allocate(KEY_BYTES, Long.BYTES);
  final MemorySegment value;
  final MemorySegment got;
  private final ByteBuffer keyBuffer = buffer(key);
  private final ByteBuffer valueBuffer;
  private final ByteBuffer gotBuffer;

  SegmentStore(int valueBytes) {
    this.value = Arena.ofAuto().allocate(valueBytes, Long.BYTES);
    this.got = Arena.ofAuto().allocate(valueBytes, Long.BYTES);
    this.valueBuffer = buffer(value);
    this.gotBuffer = buffer(got);
  }

  private static ByteBuffer buffer(MemorySegment segment) {
    return segment.asByteBuffer().order(ByteOrder.nativeOrder());
  }

  @Override
  public final ByteBuffer key() {
    return keyBuffer;
  }

  @Override
  public final ByteBuffer value() {
    return valueBuffer;
  }

  @Override
  public final ByteBuffer got() {
    return gotBuffer;
  }
}
