package io.erda.pmem;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/**
 * What an error of a file says to a person: the file, and what was wrong. The JDK says some of that
 * with the type of the exception alone, and puts the names of types into messages.
 */
public final class FileErrors {
  private FileErrors() {}

  /** One line without the name of any type: the file, the call where that is known, the error. */
  public static String inWords(IOException e) {
    if (e instanceof FileSystemException of && of.getFile() != null && of.getReason() == null) {
      String what = byType(of);
      return what == null ? of.getFile() + ": the file system failed" : of.getFile() + ": " + what;
    }
    return e.getMessage() == null || e.getMessage().isEmpty()
        ? "input or output failed (" + e.getClass().getSimpleName() + ")"
        : e.getMessage();
  }

  /** As above; what was said beside the cause stands before it. */
  public static String inWords(UncheckedIOException e) {
    String cause = inWords(e.getCause());
    String said = e.getMessage();
    if (said == null || said.equals(e.getCause().toString())) {
      return cause;
    }
    return said.contains(cause) ? said : said + ": " + cause;
  }

  /** The same of whatever failed; null where that is neither of them. */
  public static String explain(Throwable error) {
    return switch (error) {
      case UncheckedIOException e -> inWords(e);
      case IOException e -> inWords(e);
      default -> null;
    };
  }

  private static String byType(FileSystemException e) {
    return switch (e) {
      case NoSuchFileException missing -> "no such file or directory";
      case AccessDeniedException denied -> "permission denied";
      case FileAlreadyExistsException there -> "exists already";
      case NotDirectoryException other -> "not a directory";
      case DirectoryNotEmptyException full -> "the directory is not empty";
      default -> null;
    };
  }
}
