package io.erda.pmem;

import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * A store to mapped memory failed and did not happen. Every store of its thread before this one
 * happened, none behind it did. The message names the file and the kernel's error.
 */
public class FailedStoreException extends UncheckedIOException {
  private static final long serialVersionUID = 1L;

  /** Says what the cause says. */
  public FailedStoreException(IOException cause) {
    super(cause.getMessage(), cause);
  }
}
