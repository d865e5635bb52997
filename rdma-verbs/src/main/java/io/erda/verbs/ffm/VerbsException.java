package io.erda.verbs.ffm;

import java.io.IOException;

/**
 * A call of libibverbs or librdmacm failed; the message has its name and {@code errno} in words.
 */
public final class VerbsException extends IOException {
  private static final long serialVersionUID = 1;

  private final int errno;

  VerbsException(String message, int errno) {
    super(message);
    this.errno = errno;
  }

  /** The number that the call left. */
  public int errno() {
    return errno;
  }
}
