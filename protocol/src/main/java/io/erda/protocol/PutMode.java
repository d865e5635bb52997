package io.erda.protocol;

/**
 * The way in which an object becomes the newest version of its key. It is a property of the store.
 */
public enum PutMode {
  /** The object is written first, then published: the word is stored last. */
  PUBLISH(0),
  /** The word is stored first, then the object is written: the put of the Erda paper. */
  ANNOUNCE(1);

  static {
    for (PutMode each : values()) {
      assert ofCode(each.code) == each : each;
    }
  }

  private final int code;

  PutMode(int code) {
    this.code = code;
  }

  /** Its number in the handshake and in the superblock. */
  public int code() {
    return code;
  }

  /** The mode with this code, or null for a code that is none. */
  public static PutMode ofCode(int code) {
    return switch (code) {
      case 0 -> PUBLISH;
      case 1 -> ANNOUNCE;
      default -> null;
    };
  }

  /** The strongest promise that puts of this mode can have. */
  public Promise promiseMax() {
    return this == PUBLISH ? Promise.POWER : Promise.ATOMIC;
  }
}
