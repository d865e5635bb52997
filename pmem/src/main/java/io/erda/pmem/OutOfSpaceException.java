package io.erda.pmem;

import java.io.IOException;

/**
 * There is no room: the file system is full, or a quota or file-size limit forbids the allocation.
 */
public final class OutOfSpaceException extends IOException {
  private static final long serialVersionUID = 1L;

  public OutOfSpaceException(String message, Throwable cause) {
    super(message, cause);
  }
}
