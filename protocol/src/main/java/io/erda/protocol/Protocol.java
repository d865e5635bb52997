package io.erda.protocol;

/** Versions and sizes that both sides must agree on; {@code FORMAT.md} has their history. */
public final class Protocol {
  /** The version of the handshake and the control messages. */
  public static final int VERSION = 2;

  /** The version of all files of a store: superblock, root, table, regions, objects. */
  public static final int LAYOUT_VERSION = 3;

  /** The longest control message, bytes. */
  public static final int MESSAGE_BYTES_MAX = 4096;

  /** The longest key that a message can carry, and the longest that a store takes. */
  public static final int KEY_BYTES_MAX = 2048;

  /**
   * The most requests of one connection that may be without a response. The server keeps as many
   * receives posted.
   */
  public static final int REQUESTS_MAX = 32;

  /** The directory in a store's directory where clients of its host find the server. */
  public static final String SHM_DIRECTORY = "shm";

  private Protocol() {}
}
