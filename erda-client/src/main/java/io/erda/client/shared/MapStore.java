package io.erda.client.shared;

import java.util.Iterator;
import java.util.List;

/**
 * The operations of a store that {@code ErdaMap} needs; {@link PoolStore} implements them. Each
 * method is one atomic step on one key, except the methods with several keys. Any thread may call
 * any method; errors are those of {@code ErdaClient}. A key whose length the store does not take
 * has no value for {@link #get}, {@link #delete} and {@link #compareAndDelete}.
 */
public interface MapStore {
  /** The identity of the store: equal for two objects of one store. May connect to the store. */
  Object identity();

  /** The value of a key, or null. */
  byte[] get(byte[] key);

  /** The values of several keys, in their order; null for a key that has none. */
  List<byte[]> getAll(List<byte[]> keys);

  /** Stores a value, replacing any other. */
  void put(byte[] key, byte[] value);

  /** Stores several values, each under the key with the same index. */
  void putAll(List<byte[]> keys, List<byte[]> values);

  /** Stores a value if the key has none. Returns whether it did. */
  boolean putIfAbsent(byte[] key, byte[] value);

  /** Replaces a value if it is the expected one. Returns whether it did. */
  boolean compareAndSet(byte[] key, byte[] expected, byte[] value);

  /** Removes a key with any value. Returns whether it had one. */
  boolean delete(byte[] key);

  /** Removes a key if it has the expected value. Returns whether it did. */
  boolean compareAndDelete(byte[] key, byte[] expected);

  /**
   * Returns an iterator over all keys. It returns each key that exists from the beginning of the
   * iteration to its end exactly once, and other keys at most once. The iterator is for one thread.
   */
  Iterator<byte[]> keys();
}
