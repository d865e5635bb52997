package io.erda.client;

import java.lang.foreign.MemorySegment;

/**
 * A {@link Serializer} could not read bytes that an {@link ErdaMap} met in its store, for example
 * because the class that they were made of has changed. The call that throws it has changed nothing
 * of the key that it names. The cause is what the serializer threw.
 *
 * <p>{@link ErdaMap} says what removes, replaces and passes over such an entry.
 */
public final class UndecodableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final byte[] key;
  private final boolean ofKey;

  private UndecodableException(String message, byte[] key, boolean ofKey, Throwable cause) {
    super(message, cause);
    this.key = key.clone();
    this.ofKey = ofKey;
  }

  static UndecodableException ofKey(byte[] key, Throwable cause) {
    return new UndecodableException(
        "the serializer of keys can't read " + text(key) + ": " + cause, key, true, cause);
  }

  static UndecodableException ofValue(byte[] key, int valueLength, Throwable cause) {
    return new UndecodableException(
        "the serializer of values can't read the value of "
            + text(key)
            + ", "
            + valueLength
            + " bytes: "
            + cause,
        key,
        false,
        cause);
  }

  static String text(byte[] key) {
    return KeyText.of(MemorySegment.ofArray(key), 0, key.length);
  }

  /** The bytes of the key, under which {@link ErdaClient} and {@link ErdaClientPool} find it. */
  public byte[] key() {
    return key.clone();
  }

  /** Whether it is the key that can't be read; otherwise it is the value of this key. */
  public boolean isOfKey() {
    return ofKey;
  }
}
