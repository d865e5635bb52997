package io.erda.pmem;

import java.nio.file.FileSystemException;

/**
 * A file that may be another than the one that was meant: a symbolic link, something that is no
 * plain file, or a file of somebody else. Whoever put it there could have this process read or
 * write a file of its own user's.
 */
public final class UntrustedFileException extends FileSystemException {
  private static final long serialVersionUID = 1L;

  public UntrustedFileException(String file, String reason) {
    super(file, null, reason);
  }
}
