package io.erda.client;

import java.util.Iterator;
import java.util.List;

/**
 * What {@link ErdaMap} needs of a store. Each method is one atomic step on one key, but for those
 * that name several. Any thread may call any of them; errors are those of {@link ErdaClient}.
 */
interface MapStore {
  /**
   * A value and its version.
   *
   * @param version names this value of its key: no other value of the key has it, not an equal one
   *     that is stored later either
   */
  record Versioned(long version, byte[] value) {}

  /** The value of a key, or null. */
  byte[] get(byte[] key);

  /** The values of several keys, in their order; null for a key that has none. */
  List<byte[]> getAll(List<byte[]> keys);

  /** The value of a key with its version, or null. */
  Versioned getVersioned(byte[] key);

  /** Stores a value, whatever was there. */
  void put(byte[] key, byte[] value);

  /** Stores several values: see {@link ErdaClient#putAll(List, List)}. */
  void putAll(List<byte[]> keys, List<byte[]> values);

  /** Stores a value where none is. Returns whether it did. */
  boolean putIfAbsent(byte[] key, byte[] value);

  /** Stores a value where one of a version is. Returns whether it did. */
  boolean compareAndSet(byte[] key, long version, byte[] value);

  /** Removes a key whatever its value is. Returns whether it had one. */
  boolean delete(byte[] key);

  /** Removes a key whose value has a version. Returns whether it did. */
  boolean compareAndDelete(byte[] key, long version);

  /**
   * All keys: each that is there from the beginning of the iteration to its end exactly once,
   * others at most once. The iterator is for one thread.
   */
  Iterator<byte[]> keys();
}
