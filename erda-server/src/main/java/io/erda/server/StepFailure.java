package io.erda.server;

import io.erda.protocol.JvmErrors;

/**
 * The message to clients of an embedded store after a step of its server failed, in a client's
 * thread or in the server's thread. The store has then ended for all clients.
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
