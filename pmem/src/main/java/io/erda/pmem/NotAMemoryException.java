package io.erda.pmem;

import java.nio.file.FileSystemException;
import java.nio.file.Path;

/**
 * What has the name of a memory is there, and is none: an empty file, a directory, a device. A file
 * that can't be opened or mapped for another reason may well be one.
 */
public final class NotAMemoryException extends FileSystemException {
  private static final long serialVersionUID = 1L;

  public NotAMemoryException(Path file, String reason) {
    super(file.toString(), null, reason);
  }
}
