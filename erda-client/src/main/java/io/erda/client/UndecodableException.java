package io.erda.client;

/**
 * A {@link Serializer} could not read bytes that an {@link ErdaMap} found in its store, for example
 * because the serialized class has changed. The call that throws this has not changed the key. The
 * cause is the serializer's exception.
 *
 * <p>The documentation of {@link ErdaMap} describes how to remove, replace and skip such an entry.
 */
public final class UndecodableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final byte[] key;
  private final boolean ofKey;

  /**
   * @param key the bytes of the key
   * @param ofKey whether the key can't be read; otherwise the value can't
   * @param cause the serializer's exception
   */
  public UndecodableException(String message, byte[] key, boolean ofKey, Throwable cause) {
    super(message, cause);
    this.key = key.clone();
    this.ofKey = ofKey;
  }

  /** The bytes of the key, under which {@link ErdaClient} and {@link ErdaClientPool} find it. */
  public byte[] key() {
    return key.clone();
  }

  /** Whether the key can't be read; otherwise the value of this key can't be read. */
  public boolean isOfKey() {
    return ofKey;
  }
}
