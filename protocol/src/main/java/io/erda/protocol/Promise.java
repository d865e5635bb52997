package io.erda.protocol;

/** The failures that an acknowledged put survives. The order is from weaker to stronger. */
public enum Promise {
  /** A value is never torn; a power failure may take acknowledged puts. */
  ATOMIC(0),
  /** Acknowledged puts survive a kill of any process. */
  PROCESS(1),
  /** Acknowledged puts survive power failure. */
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
