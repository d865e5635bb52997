package io.erda.protocol;

/** What an acknowledgement means; the order is from weaker to stronger. */
public enum Promise {
  /** Never torn. */
  ATOMIC,
  /** Survives a kill of any process. */
  PROCESS,
  /** Survives power failure. */
  POWER;

  private static final Promise[] VALUES = values();

  /** The promise with this code, or null for a code that is none. */
  public static Promise ofCode(int code) {
    return code >= 0 && code < VALUES.length ? VALUES[code] : null;
  }
}
