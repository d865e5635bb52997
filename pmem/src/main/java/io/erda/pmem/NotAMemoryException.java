package io.erda.pmem;

import java.nio.file.FileSystemException;
import java.nio.file.Path;

/**
 * The name of a memory leads to an empty file, a directory, a device or the like. Not thrown for a
 * file that can't be opened or mapped for another reason, because that file may be a memory.
 */
public final class NotAMemoryException extends FileSystemException {
  private static final long serialVersionUID = 1L;

  public NotAMemoryException(Path file, String reason) {
    super(file.toString(), null, reason);
  }
}
