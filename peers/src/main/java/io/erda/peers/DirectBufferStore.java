package io.erda.peers;

import io.erda.eval.peers.store.PeerStore;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A store whose library reads keys and values from direct buffers, and copies values into them. */
abstract class DirectBufferStore implements PeerStore {
  final ByteBuffer key = buffer(KEY_BYTES);
  final ByteBuffer value;
  final ByteBuffer got;

  DirectBufferStore(int valueBytes) {
    this.value = buffer(valueBytes);
    this.got = buffer(valueBytes);
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  @Override
  public final ByteBuffer key() {
    return key;
  }

  @Override
  public final ByteBuffer value() {
    return value;
  }

  @Override
  public final ByteBuffer got() {
    return got;
  }
}
