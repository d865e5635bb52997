package io.erda.rdma;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.Set;

/** A file system that failed, or was mounted again to be read only, takes no new file. */
final class FailedFileSystemException extends FileSystemException {
  private static final long serialVersionUID = 1L;

  /** The names that the C library has for EIO, EROFS, EUCLEAN and ESHUTDOWN. */
  private static final Set<String> REASONS =
      Set.of(
          "Input/output error",
          "Read-only file system",
          "Structure needs cleaning",
          "Cannot send after transport endpoint shutdown");

  FailedFileSystemException(String file, String reason) {
    super(file, null, reason);
  }

  /** Whether an exception of the JDK's says the same. */
  static boolean isReasonOf(IOException e) {
    return e instanceof FileSystemException told
        && told.getReason() != null
        && REASONS.contains(told.getReason());
  }
}
