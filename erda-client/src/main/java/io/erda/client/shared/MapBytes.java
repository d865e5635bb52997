package io.erda.client.shared;

import io.erda.client.Serializer;
import io.erda.client.UndecodableException;
import io.erda.client.operations.KeyText;
import java.util.Objects;

/**
 * Keys and values of an {@code ErdaMap} as bytes, and back. An exception that a serializer throws
 * when it decodes becomes an {@link UndecodableException}; one that it throws when it encodes is
 * passed to the caller.
 */
public final class MapBytes<K, V> {
  private final Serializer<K> keys;
  private final Serializer<V> values;

  public MapBytes(Serializer<K> keys, Serializer<V> values) {
    this.keys = Objects.requireNonNull(keys, "keys");
    this.values = Objects.requireNonNull(values, "values");
  }

  @SuppressWarnings(
      "unchecked") // a key of another class throws ClassCastException, as Map specifies
  public byte[] ofKey(Object key) {
    byte[] made = keys.toBytes((K) Objects.requireNonNull(key, "key"));
    return Objects.requireNonNull(made, "the serializer of keys returned null");
  }

  public byte[] ofValue(V value) {
    byte[] made = values.toBytes(Objects.requireNonNull(value, "value"));
    return Objects.requireNonNull(made, "the serializer of values returned null");
  }

  /** Decodes a key. The array still belongs to the caller. */
  K key(byte[] key) {
    try {
      return Objects.requireNonNull(keys.fromBytes(key.clone()), "it made null of it");
    } catch (Exception | LinkageError e) {
      throw new UndecodableException(
          "the serializer of keys can't read " + KeyText.of(key) + ": " + e, key, true, e);
    }
  }

  /**
   * Decodes a value. The array still belongs to the caller.
   *
   * @param value null when there is none
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
