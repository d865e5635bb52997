package io.erda.pmem;

import java.nio.file.FileSystemException;

/**
 * A file may not be the intended one, because it is a symbolic link, no plain file, or another
 * user's file. Using it could make this process read or write another file of its own user.
 */
public final class UntrustedFileException extends FileSystemException {
  private static final long serialVersionUID = 1L;

  public UntrustedFileException(String file, String reason) {
    super(file, null, reason);
  }
}
