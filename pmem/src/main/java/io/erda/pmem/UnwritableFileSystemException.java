package io.erda.pmem;

/**
 * A file system takes no change (EROFS): it was mounted so, or the kernel made it so because its
 * device or its structure failed. Waiting does not help.
 */
public final class UnwritableFileSystemException extends FailedFileSystemException {
  private static final long serialVersionUID = 1L;

  /**
   * @param file the file that was to be changed
   * @param reason the call, and the error in words
   */
  public UnwritableFileSystemException(String file, String reason) {
    super(file, reason);
  }
}
