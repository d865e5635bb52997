package io.erda.client.connections;

import io.erda.protocol.ErdaException;
import io.erda.protocol.ErdaException.Full.What;
import io.erda.protocol.Result;

/** Makes exceptions from the results of requests that the server did not do. */
public final class Refusals {
  /**
   * Makes the exception for a caller.
   *
   * @param what the operation, in words
   * @param reason the server's reason; empty when it gave none
   */
  public static ErdaException of(String what, int result, String reason) {
    String text = text(what, result, reason);
    return switch (result) {
      case Result.LOG_FULL -> new ErdaException.Full(What.LOG, text);
      case Result.TABLE_FULL, Result.BUCKET_FULL -> new ErdaException.Full(What.TABLE, text);
      case Result.DISK_FULL -> new ErdaException.Full(What.DISK, text);
      case Result.OVER_QUOTA -> new ErdaException.Full(What.QUOTA, text);
      case Result.TOO_LARGE -> new ErdaException.BadSize(text);
      case Result.DAMAGED -> new ErdaException.Damaged(text);
      case Result.FAILED -> failed(what, reason, null);
      case Result.READ_ONLY -> new ErdaException.ReadOnly(text);
      case Result.NO_SUCH_HEAD -> new ErdaException.BadArgument(text);
      default -> new ErdaException.Unavailable(text);
    };
  }

  /**
   * The exception for a request during which the store of this process failed.
   *
   * @param cause the error that the store ended with; null when its files failed
   */
  public static ErdaException failed(String what, String reason, Throwable cause) {
    return new ErdaException.OutcomeUnknown(text(what, Result.FAILED, reason), false, cause);
  }

  private static String text(String what, int result, String reason) {
    return what + ": " + Result.name(result) + (reason.isEmpty() ? "" : ": " + reason);
  }

  private Refusals() {}
}
