package io.erda.protocol;

import java.lang.invoke.MethodHandles;
import java.util.regex.Pattern;

/** Everything that a caller of Erda can act on. Messages are one line and carry the numbers. */
public abstract sealed class ErdaException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private static final Pattern CONTROLS =
      Pattern.compile("[\\p{Cntrl}\\x{80}-\\x{9f}\\x{2028}\\x{2029}]");

  /**
   * Initialises all of its types. A type that is first needed when there is no memory could not be
   * initialised, and every later use of it would end with a {@link NoClassDefFoundError}.
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

  /** Replaces line ends and terminal controls, because a peer or a user may have given the text. */
  private static String oneLine(String message) {
    return message == null ? null : CONTROLS.matcher(message).replaceAll("?");
  }

  /**
   * There is no server, or it went away before the operation could have any effect. Trying again is
   * safe.
   */
  public static final class Unavailable extends ErdaException {
    private static final long serialVersionUID = 1L;

    public Unavailable(String message) {
      super(message, null);
    }
  }

  /**
   * A put or delete was sent, and no answer came before the connection ended, or the store's files
   * failed during it. It is never replayed.
   *
   * <p>{@link #isFinal()} says whether it may still take effect. The client withdraws an operation
   * that the server had not begun: that one never takes effect ({@link Unavailable}). The server
   * had begun all others.
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
     * Whether the operation took effect before this was thrown or never will: reading the key shows
     * what became of it.
     *
     * <p>When it is false the operation may still take effect:
     *
     * <ul>
     *   <li>the server was stopped, or died, in the middle of this very operation: it may take
     *       effect when the server goes on, or when the next one recovers the store
     *   <li>the network was cut, or the server's host is gone: until the server has noticed the end
     *       of the connection, or the next one has recovered the store
     *   <li>the client was closed before the answer came: a running server decides the operation a
     *       moment later
     *   <li>somebody shortened the file that client and server exchange messages in: as above
     *   <li>the store's files failed during the operation (if the answer arrived, the message says
     *       so): it may take effect when the store is opened the next time
     * </ul>
     */
    public boolean isFinal() {
      return last;
    }
  }

  /**
   * Client and store do not fit: version, promise, another store than before, the secret,
   * permissions, a peer that is not Erda's; or an application has the store open for itself. The
   * message says which.
   */
  public static final class Refused extends ErdaException {
    private static final long serialVersionUID = 1L;

    public Refused(String message) {
      super(message, null);
    }
  }

  /** There is no room; reads and deletes of what is there still work. */
  public static final class Full extends ErdaException {
    private static final long serialVersionUID = 1L;

    /** What is full. */
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
   * The store takes no more puts and deletes because its files failed; the message says how. The
   * key is untouched, reads go on. Trying again fails until the files were repaired and the server
   * was started again.
   *
   * <p>Or the client is one that only reads, and was asked to write: then nothing was sent.
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

  /** An object or a structure of the store is not what was written. */
  public static final class Damaged extends ErdaException {
    private static final long serialVersionUID = 1L;

    public Damaged(String message) {
      super(message, null);
    }
  }

  /** A directory can't be opened as a store: in use, foreign, of another version, unreadable. */
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
