package io.erda.pmem;

import java.io.IOException;

/**
 * There is no room: the file system is full, or a quota or file-size limit forbids the allocation.
 */
public final class OutOfSpaceException extends IOException {
  private static final long serialVersionUID = 1L;

  private final boolean ofFileSize;

  public OutOfSpaceException(String message, Throwable cause) {
    this(message, cause, false);
  }

  /**
   * @param ofFileSize the result of {@link #isOfFileSize}
   */
  OutOfSpaceException(String message, Throwable cause, boolean ofFileSize) {
    super(message, cause);
    this.ofFileSize = ofFileSize;
  }

  /** Whether the file system has room, but a limit on the size of a file was exceeded. */
  public boolean isOfFileSize() {
    return ofFileSize;
  }
}
