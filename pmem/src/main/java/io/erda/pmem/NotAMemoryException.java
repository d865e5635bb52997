package io.erda.pmem;

import java.nio.file.FileSystemException;
import java.nio.file.Path;

/**
 * The name of a memory is that of something else: an empty file, a directory, a device. Not thrown
 * for a file that can't be opened or mapped for another reason: it may be a memory.
 */
public final class NotAMemoryException extends FileSystemException {
  private static final long serialVersionUID = 1L;

  public NotAMemoryException(Path file, String reason) {
    super(file.toString(), null, reason);
  }
}
