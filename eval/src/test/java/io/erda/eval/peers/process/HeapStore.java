package io.erda.eval.peers.process;

import io.erda.eval.peers.store.PeerStore;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;

/** A store in a map, of objects of 16 bytes. */
class HeapStore implements PeerStore {
  static final int VALUE_BYTES = 16;

  final Map<ByteBuffer, byte[]> map = new HashMap<>();
  private final ByteBuffer key = ByteBuffer.allocate(KEY_BYTES);
  private final ByteBuffer value = ByteBuffer.allocate(VALUE_BYTES);
  private final ByteBuffer got = ByteBuffer.allocate(VALUE_BYTES);

  @Override
  public ByteBuffer key() {
    return key;
  }

  @Override
  public ByteBuffer value() {
    return value;
  }

  @Override
  public ByteBuffer got() {
    return got;
  }

  @Override
  public void put() {
    map.put(ByteBuffer.wrap(key.array().clone()), value.array().clone());
  }

  @Override
  public int get() {
    byte[] found = map.get(key);
    if (found == null) {
      return -1;
    }
    got.put(0, found);
    return found.length;
  }

  @Override
  public String durability() {
    return NO_DURABILITY;
  }

  @Override
  public void close() {}
}
