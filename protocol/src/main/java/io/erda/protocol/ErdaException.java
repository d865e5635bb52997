package io.erda.protocol;

import java.lang.invoke.MethodHandles;
import java.util.regex.Pattern;

/**
 * The errors of Erda to which a caller can react. A message is one line and contains the relevant
 * numbers.
 */
public abstract sealed class ErdaException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private static final Pattern CONTROLS =
      Pattern.compile("[\\p{Cntrl}\\x{80}-\\x{9f}\\x{2028}\\x{2029}]");

  /**
   * Initialises all types of exceptions. A type that is first needed when there is no memory could
   * not be initialised, and every later use of it would throw a {@link NoClassDefFoundError}.
   */
  public static void prepare() {
    for (Class<?> type : ErdaException.class.getPermittedSubclasses()) {
      try {
        MethodHandles.lookup().ensureInitialized(type);
      } catch (IllegalAccessException e) {
        throw new AssertionError(e);
      }
    }
  }

  private ErdaException(String message, Throwable cause) {
    super(oneLine(message), cause);
  }

  /** Replaces line ends and terminal controls, because the text may come from a peer or a user. */
  private static String oneLine(String message) {
    return message == null ? null : CONTROLS.matcher(message).replaceAll("?");
  }

  /**
   * There is no server, or it ended before the operation could have any effect. Trying again is
   * safe.
   */
  public static final class Unavailable extends ErdaException {
    private static final long serialVersionUID = 1L;

    public Unavailable(String message) {
      super(message, null);
    }
  }

  /**
   * A put or delete was sent, and the connection ended before the answer came, or the store's files
   * failed during the operation. The client never repeats the operation.
   *
   * <p>{@link #isFinal()} says whether the operation may still take effect. This exception is
   * thrown only for operations that the server had begun: the client withdraws an operation that
   * the server had not begun, so that it never takes effect, and throws {@link Unavailable}.
   */
  public static final class OutcomeUnknown extends ErdaException {
    private static final long serialVersionUID = 1L;

    private final boolean last;

    /** The operation may still take effect. */
    public OutcomeUnknown(String message) {
      this(message, false);
    }

    /**
     * @param last what {@link #isFinal()} says
     */
    public OutcomeUnknown(String message, boolean last) {
      this(message, last, null);
    }

    /**
     * @param last what {@link #isFinal()} says
     * @param cause the error that the store in this process ended with; null where there is none
     */
    public OutcomeUnknown(String message, boolean last, Throwable cause) {
      super(message, cause);
      this.last = last;
    }

    /**
     * Whether the outcome can't change any more: the operation took effect before this exception
     * was thrown, or never will. Reading the key shows which.
     *
     * <p>When this is false the operation may still take effect, in these cases:
     *
     * <ul>
     *   <li>the server was stopped, or died, in the middle of this operation, which may take effect
     *       when the server goes on, or when the next server recovers the store
     *   <li>the network was cut, or the server's host is gone; the operation may take effect until
     *       the server has noticed the end of the connection, or the next server has recovered the
     *       store
     *   <li>the client was closed before the answer came; a running server decides the operation a
     *       moment later
     *   <li>somebody shortened the file by which client and server exchange messages; a running
     *       server decides the operation a moment later
     *   <li>the store's files failed during the operation, which the message says if the answer
     *       arrived; the operation may take effect when the store is opened the next time
     * </ul>
     */
    public boolean isFinal() {
      return last;
    }
  }

  /**
   * Client and server do not agree: the versions differ, the store's promise is too weak, it is
   * another store than before, the secret is wrong, permissions are missing, or the peer is no Erda
   * server. Or an application has the store open for itself. The message states the reason.
   */
  public static final class Refused extends ErdaException {
    private static final long serialVersionUID = 1L;

    public Refused(String message) {
      super(message, null);
    }
  }

  /** There is no room. Reads, and deletes of existing keys, still work. */
  public static final class Full extends ErdaException {
    private static final long serialVersionUID = 1L;

    /** The resource that is full. */
    public enum What {
      LOG,
      TABLE,
      DISK,
      CONNECTIONS,

      /**
       * The server's limit for one client, or for all clients of one user; the message names it.
       */
      QUOTA
    }

    private final What what;

    public Full(What what, String message) {
      super(message, null);
      this.what = what;
    }

    public What what() {
      return what;
    }
  }

  /**
   * The store takes no more puts and deletes because its files failed; the message describes the
   * failure. The key is unchanged, and reads go on. Trying again fails until the files were
   * repaired and the server was started again.
   *
   * <p>It is also thrown when a client that only reads is called to write; then nothing was sent.
   */
  public static final class ReadOnly extends ErdaException {
    private static final long serialVersionUID = 1L;

    public ReadOnly(String message) {
      super(message, null);
    }
  }

  /** A key or value is longer than the store takes, or a key is empty. */
  public static final class BadSize extends ErdaException {
    private static final long serialVersionUID = 1L;

    public BadSize(String message) {
      super(message, null);
    }
  }

  /** An object or a structure of the store has other bytes than were written. */
  public static final class Damaged extends ErdaException {
    private static final long serialVersionUID = 1L;

    public Damaged(String message) {
      super(message, null);
    }
  }

  /**
   * A directory can't be opened as a store, because it is in use, is no store, has a store of
   * another version, or can't be read.
   */
  public static final class Unusable extends ErdaException {
    private static final long serialVersionUID = 1L;

    public Unusable(String message) {
      super(message, null);
    }

    public Unusable(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** A URI or an option is wrong. */
  public static final class BadArgument extends ErdaException {
    private static final long serialVersionUID = 1L;

    public BadArgument(String message) {
      super(message, null);
    }
  }
}
