package io.erda.pmem;

import java.nio.file.FileSystemException;

/**
 * A file that may not be the intended one: a symbolic link, something that is no plain file, or
 * another user's file. It could make this process read or write another file of its own user.
 */
public final class UntrustedFileException extends FileSystemException {
  private static final long serialVersionUID = 1L;

  public UntrustedFileException(String file, String reason) {
    super(file, null, reason);
  }
}
