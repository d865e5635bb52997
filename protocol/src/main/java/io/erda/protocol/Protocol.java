package io.erda.protocol;

/** Versions and sizes that both sides must agree on. */
public final class Protocol {
  /** Of the handshake and the control messages. */
  public static final int VERSION = 1;

  /** Of the bytes that clients read for themselves: root, table, objects, regions. */
  public static final int LAYOUT_VERSION = 1;

  /** The longest control message, bytes. */
  public static final int MESSAGE_BYTES_MAX = 4096;

  /** The longest key that a message can carry, and the longest that a store takes. */
  public static final int KEY_BYTES_MAX = 2048;

  private Protocol() {}
}
