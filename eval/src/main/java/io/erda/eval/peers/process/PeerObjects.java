package io.erda.eval.peers.process;

import io.erda.eval.peers.store.PeerStore;
import java.util.SplittableRandom;

/**
 * Objects of one size in a store, each determined by its number. Keys are 16 bytes in random order.
 * Every value contains its object's name, and every get checks it. One thread.
 */
final class PeerObjects {
  private final PeerStore store;
  private final long count;
  private final int valueBytes;
  private long random;

  /** A store has lost a put. The message is complete. */
  static final class ObjectLost extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ObjectLost(String message) {
      super(message);
    }
  }

  PeerObjects(PeerStore store, long count, int valueBytes) {
    this.store = store;
    this.count = count;
    this.valueBytes = valueBytes;
    this.random = System.nanoTime();
    SplittableRandom filling = new SplittableRandom(valueBytes);
    for (int at = 0; at < valueBytes; at += Long.BYTES) {
      store.value().putLong(at, filling.nextLong());
    }
  }

  long count() {
    return count;
  }

  int valueBytes() {
    return valueBytes;
  }

  /** Puts an object with the last value, except for its name. */
  void put(long number) {
    setKey(number);
    store.value().putLong(0, number);
    store.put();
  }

  /** Puts an object with a given value, whose first bytes are replaced with its name. */
  void put(long number, byte[] value) {
    store.value().put(0, value, 0, valueBytes);
    put(number);
  }

  /**
   * Gets an object.
   *
   * @throws ObjectLost when it is missing, or another object is there
   */
  void get(long number) {
    setKey(number);
    int length = store.get();
    if (length != valueBytes || store.got().getLong(0) != number) {
      throw new ObjectLost(
          "object "
              + number
              + (length < 0 ? " is not there" : " has another's value, or one of another length"));
    }
  }

  /** Gets an object, and copies its value to memory of the caller. */
  byte[] copyOf(long number) {
    get(number);
    byte[] copy = new byte[valueBytes];
    store.got().get(0, copy);
    return copy;
  }

  /**
   * Sets the key. Its first half is a permutation of the numbers (the finalizer of MurmurHash3).
   */
  private void setKey(long number) {
    long mixed = number + 1;
    mixed = (mixed ^ (mixed >>> 33)) * 0xFF51AFD7ED558CCDL;
    mixed = (mixed ^ (mixed >>> 33)) * 0xC4CEB9FE1A85EC53L;
    store.key().putLong(0, mixed ^ (mixed >>> 33));
    store.key().putLong(Long.BYTES, number);
  }

  /**
   * A random number: the high bits of a linear congruential generator, whose cost is negligible.
   */
  long anyNumber() {
    return any(count);
  }

  /** The same, of as many numbers as {@code bound}. */
  long any(long bound) {
    random = random * 6364136223846793005L + 1442695040888963407L;
    return Math.unsignedMultiplyHigh(random, bound);
  }
}
