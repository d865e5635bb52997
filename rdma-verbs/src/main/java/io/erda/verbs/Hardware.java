package io.erda.verbs;

import java.lang.foreign.ValueLayout;

/** The status of work that hardware completed: enum ibv_wc_status. */
final class Hardware {
  static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  static final int SUCCESS = 0;
  static final int FLUSHED = 5;
  private static final int REMOTE_INVALID = 9;
  private static final int REMOTE_ACCESS = 10;
  private static final int REMOTE_OPERATION = 11;
  private static final int RETRIES_EXCEEDED = 12;
  private static final int RECEIVER_NOT_READY = 13;

  /** Whether the peer's side refused the work. */
  static boolean isRemote(int status) {
    return status == REMOTE_INVALID || status == REMOTE_ACCESS || status == REMOTE_OPERATION;
  }

  /** Whether the peer's hardware did not answer. */
  static boolean isUnanswered(int status) {
    return status == RETRIES_EXCEEDED || status == RECEIVER_NOT_READY;
  }

  /** In words, for messages. */
  static String text(int status) {
    String text =
        switch (status) {
          case FLUSHED -> "it was flushed";
          case RETRIES_EXCEEDED -> "the other end's device does not answer";
          case RECEIVER_NOT_READY -> "the other end takes no messages";
          default -> "the device failed";
        };
    return text + " (completion status " + status + ")";
  }

  private Hardware() {}
}
