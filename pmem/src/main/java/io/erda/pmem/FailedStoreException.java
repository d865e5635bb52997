package io.erda.pmem;

import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * A store to mapped memory failed; a {@code put} may have stored some of its bytes. All earlier
 * stores of the thread have happened, and no later store has. The message names the file and the
 * kernel's error.
 */
public class FailedStoreException extends UncheckedIOException {
  private static final long serialVersionUID = 1L;

  /** Takes the message of its cause. */
  public FailedStoreException(IOException cause) {
    super(cause.getMessage(), cause);
  }
}
