package io.erda.client.shared;

import io.erda.client.operations.KeyText;
import java.util.Map;

/**
 * An entry of an {@code ErdaMap} as it was when it was fetched. Key and value are decoded on
 * demand. {@code setValue} stores only if the fetched value is still there.
 */
public final class MapEntry<K, V> implements Map.Entry<K, V> {
  /** A value that was fetched or set, and its decoded form; null until it is decoded. */
  private record Seen<V>(byte[] bytes, V value) {}

  private final MapStore store;
  private final MapBytes<K, V> bytes;
  private final byte[] key;
  private volatile K decodedKey;
  private volatile Seen<V> seen;

  MapEntry(MapStore store, MapBytes<K, V> bytes, byte[] key, byte[] value) {
    this.store = store;
    this.bytes = bytes;
    this.key = key;
    seen = new Seen<>(value, null);
  }

  public byte[] keyBytes() {
    return key;
  }

  /** The bytes of the value that this entry shows. */
  public byte[] valueBytes() {
    return seen.bytes;
  }

  /** Removes the key if it still has the value that this entry shows. Returns whether it did. */
  boolean removeSeen() {
    return store.compareAndDelete(key, seen.bytes);
  }

  @Override
  public K getKey() {
    K decoded = decodedKey;
    if (decoded == null) {
      decoded = bytes.key(key);
      decodedKey = decoded;
    }
    return decoded;
  }

  @Override
  public V getValue() {
    return decoded().value;
  }

  private Seen<V> decoded() {
    Seen<V> now = seen;
    if (now.value == null) {
      now = new Seen<>(now.bytes, bytes.value(key, now.bytes));
      seen = now;
    }
    return now;
  }

  @Override
  public V setValue(V value) {
    byte[] newBytes = bytes.ofValue(value);
    Seen<V> before = decoded();
    if (!store.compareAndSet(key, before.bytes, newBytes)) {
      throw new IllegalStateException(
          "the value of "
              + KeyText.of(key)
              + " was changed or removed since this entry was read; nothing was stored");
    }
    seen = new Seen<>(newBytes, value);
    return before.value;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Map.Entry<?, ?> entry
        && getKey().equals(entry.getKey())
        && getValue().equals(entry.getValue());
  }

  @Override
  public int hashCode() {
    return getKey().hashCode() ^ getValue().hashCode();
  }

  @Override
  public String toString() {
    return getKey() + "=" + getValue();
  }
}
