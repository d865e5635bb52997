package io.erda.client.shared;

import io.erda.client.Serializer;
import io.erda.client.UndecodableException;
import io.erda.client.operations.KeyText;
import java.util.Objects;

/**
 * Keys and values of an {@code ErdaMap} as bytes, and back. What a serializer throws while it reads
 * becomes an {@link UndecodableException}; what it throws while it writes is the caller's own.
 */
public final class MapBytes<K, V> {
  private final Serializer<K> keys;
  private final Serializer<V> values;

  public MapBytes(Serializer<K> keys, Serializer<V> values) {
    this.keys = Objects.requireNonNull(keys, "keys");
    this.values = Objects.requireNonNull(values, "values");
  }

  @SuppressWarnings("unchecked") // a key of another class is a ClassCastException, as Map says
  public byte[] ofKey(Object key) {
    return keys.toBytes((K) Objects.requireNonNull(key, "key"));
  }

  public byte[] ofValue(V value) {
    return values.toBytes(Objects.requireNonNull(value, "value"));
  }

  /** The key that bytes were made of. They stay the caller's. */
  K key(byte[] key) {
    try {
      return Objects.requireNonNull(keys.fromBytes(key.clone()), "it made null of it");
    } catch (Exception | LinkageError e) {
      throw new UndecodableException(
          "the serializer of keys can't read " + KeyText.of(key) + ": " + e, key, true, e);
    }
  }

  /**
   * The value that bytes were made of. They stay the caller's.
   *
   * @param value null where there is none
   */
  public V value(byte[] key, byte[] value) {
    if (value == null) {
      return null;
    }
    try {
      return Objects.requireNonNull(values.fromBytes(value.clone()), "it made null of it");
    } catch (Exception | LinkageError e) {
      throw new UndecodableException(
          "the serializer of values can't read the value of "
              + KeyText.of(key)
              + ", "
              + value.length
              + " bytes: "
              + e,
          key,
          false,
          e);
    }
  }
}
