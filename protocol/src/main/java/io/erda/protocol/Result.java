package io.erda.protocol;

/** The results of requests. */
public final class Result {
  public static final int OK = 0;

  /** No region has room, and no more regions may be linked. */
  public static final int LOG_FULL = 1;

  /** No room can be made in the neighbourhood of the key. */
  public static final int TABLE_FULL = 2;

  /** The file system has no room for another region. */
  public static final int DISK_FULL = 3;

  /**
   * The reservation is not open, or the place does not lie in it. The client has to lease and write
   * again. The key is unchanged.
   */
  public static final int NO_RESERVATION = 4;

  /** There is no valid object at the place. The key is unchanged. */
  public static final int INVALID_OBJECT = 5;

  /** The key's newest object is damaged, so no right answer is possible. */
  public static final int DAMAGED = 6;

  /** A key or an object is longer than the store takes. */
  public static final int TOO_LARGE = 7;

  /** The message does not belong to this protocol, or names another connection. */
  public static final int BAD_REQUEST = 8;

  /**
   * The store takes no more puts and deletes because its files failed; reads go on. The response
   * says why.
   */
  public static final int READ_ONLY = 9;

  /**
   * The files of the store failed during the request: it may take effect, now or at the next start.
   * The response says why.
   */
  public static final int FAILED = 10;

  /**
   * No file could be made for another region just now, or the table has room only in a moment; the
   * response has the reason.
   */
  public static final int NOT_NOW = 11;

  /** The store has no head with the number in the request. */
  public static final int NO_SUCH_HEAD = 12;

  /** The server was told not to clean the log. */
  public static final int NO_CLEANING = 13;

  /** The key's value does not meet the condition of the request. The key is unchanged. */
  public static final int CONFLICT = 14;

  /** A put of this key is not decided yet. Nothing was done; try again in a moment. */
  public static final int UNDECIDED = 15;

  /**
   * The client, or its user, has reached a limit of the server, which the response names. Nothing
   * was done.
   */
  public static final int OVER_QUOTA = 16;

  /**
   * Too many keys have the same bucket as this key, because their hashes have the same low bits. So
   * the neighbourhood has no room, although the table may be nearly empty. Nothing was done.
   */
  public static final int BUCKET_FULL = 17;

  /** The result in words, for messages. */
  public static String name(int result) {
    return switch (result) {
      case OK -> "ok";
      case LOG_FULL -> "log full";
      case TABLE_FULL -> "table full";
      case DISK_FULL -> "disk full";
      case NO_RESERVATION -> "no reservation";
      case INVALID_OBJECT -> "invalid object";
      case DAMAGED -> "damaged";
      case TOO_LARGE -> "too large";
      case BAD_REQUEST -> "bad request";
      case READ_ONLY -> "read only";
      case FAILED -> "the files of the store failed, the outcome is unknown";
      case NOT_NOW -> "not now";
      case NO_SUCH_HEAD -> "no such head";
      case NO_CLEANING -> "the server was told not to clean the log";
      case CONFLICT -> "the key has another value";
      case UNDECIDED -> "a put of this key is not decided yet";
      case OVER_QUOTA -> "over quota";
      case BUCKET_FULL ->
          "bucket full: 16 keys have it whose hashes share their low bits with this key's";
      default -> "result " + result;
    };
  }

  /** Whether a response with this result has a text with the reason. */
  public static boolean saysWhy(int result) {
    return result == READ_ONLY
        || result == FAILED
        || result == NOT_NOW
        || result == DISK_FULL
        || result == NO_SUCH_HEAD
        || result == OVER_QUOTA;
  }

  private Result() {}
}
