package io.erda.protocol;

/** What an acknowledgement means; the order is from weaker to stronger. */
public enum Promise {
  /** Never torn. */
  ATOMIC(0),
  /** Survives a kill of any process. */
  PROCESS(1),
  /** Survives power failure. */
  POWER(2);

  static {
    for (Promise each : values()) {
      assert ofCode(each.code) == each && each.code == each.ordinal() : each;
    }
  }

  private final int code;

  Promise(int code) {
    this.code = code;
  }

  /** Its number in messages. */
  public int code() {
    return code;
  }

  /** The promise with this code, or null for a code that is none. */
  public static Promise ofCode(int code) {
    return switch (code) {
      case 0 -> ATOMIC;
      case 1 -> PROCESS;
      case 2 -> POWER;
      default -> null;
    };
  }
}
