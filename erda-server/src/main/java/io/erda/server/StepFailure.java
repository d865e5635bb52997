package io.erda.server;

import io.erda.protocol.JvmErrors;

/**
 * Tells the clients of an embedded store that a step of its server failed, in a thread of theirs or
 * in its own, and that the store has ended for all of them.
 */
final class StepFailure {
  private StepFailure() {}

  /** One line for a user. */
  static String inWords(Throwable error) {
    return "the store ended, because one of its steps failed ("
        + JvmErrors.tell(error)
        + "); what was acknowledged is in its files: close it and open it again";
  }
}
