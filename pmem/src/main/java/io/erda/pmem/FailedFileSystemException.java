package io.erda.pmem;

import io.erda.pmem.libc.Errno;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A file system takes no new file, because it failed or was remounted read-only. */
public class FailedFileSystemException extends FileSystemException {
  private static final long serialVersionUID = 1L;

  private static final Set<String> REASONS =
      Stream.of(Errno.EIO, Errno.EROFS, Errno.EUCLEAN, Errno.ESHUTDOWN)
          .map(Errno::words)
          .collect(Collectors.toUnmodifiableSet());

  public FailedFileSystemException(String file, String reason) {
    super(file, null, reason);
  }

  /** Whether an exception, of this type or of the JDK, reports such a file system. */
  public static boolean isReasonOf(IOException e) {
    return e instanceof FailedFileSystemException
        || e instanceof FileSystemException told
            && told.getReason() != null
            && REASONS.contains(told.getReason());
  }
}
