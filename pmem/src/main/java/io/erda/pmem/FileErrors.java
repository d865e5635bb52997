package io.erda.pmem;

import io.erda.pmem.libc.Errno;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Describes errors of files to users: the file, and the error. Some exceptions of the JDK express
 * the error only by their type, and some have names of types in their messages.
 */
public final class FileErrors {
  private static final Pattern DESCRIPTOR = Pattern.compile("/proc/self/fd/[0-9]+");

  private FileErrors() {}

  /**
   * Returns the result of a call of {@link io.erda.pmem.libc.Libc} unless it is a negated errno.
   *
   * @throws IOException naming call, file and error; of the JDK's exception type for this error if
   *     there is one
   */
  public static int check(String call, int result, Path file) throws IOException {
    if (result < 0) {
      throw exception(call, -result, file.toString());
    }
    return result;
  }

  private static IOException exception(String call, int errno, String file) {
    String reason = Errno.inWords(call, errno);
    return switch (Errno.of(errno)) {
      case ENOENT -> new NoSuchFileException(file, null, reason);
      case EEXIST -> new FileAlreadyExistsException(file, null, reason);
      case EPERM, EACCES -> new AccessDeniedException(file, null, reason);
      case EROFS -> new UnwritableFileSystemException(file, reason);
      case ENOTDIR -> new NotDirectoryException(file);
      case ENOTEMPTY -> new DirectoryNotEmptyException(file);
      case ELOOP ->
          new UntrustedFileException(file, "is a symbolic link, which is not followed here");
      case ENOSPC, EDQUOT -> new OutOfSpaceException(file + ": " + reason, null);
      case EFBIG -> new OutOfSpaceException(file + ": " + reason, null, true);
      case EIO, ESHUTDOWN, EUCLEAN -> new FailedFileSystemException(file, reason);
      default -> new FileSystemException(file, null, reason);
    };
  }

  /**
   * Returns one line without the name of any type: the file, the call if it is known, and the
   * error.
   */
  public static String inWords(IOException e) {
    return byName(said(e));
  }

  private static String said(IOException e) {
    if (e instanceof FileSystemException of && of.getFile() != null && of.getReason() == null) {
      String what = byType(of);
      return what == null ? of.getFile() + ": the file system failed" : of.getFile() + ": " + what;
    }
    return e.getMessage() == null || e.getMessage().isEmpty()
        ? "input or output failed (" + e.getClass().getSimpleName() + ")"
        : e.getMessage();
  }

  /**
   * Returns one line as {@link #inWords(IOException)} does for the cause, with the exception's own
   * message before it.
   */
  public static String inWords(UncheckedIOException e) {
    String cause = inWords(e.getCause());
    String said = e.getMessage();
    if (said == null || said.equals(e.getCause().toString())) {
      return cause;
    }
    return said.contains(cause) ? said : said + ": " + cause;
  }

  /** Returns one line for an error of input or output; null for any other error. */
  public static String explain(Throwable error) {
    return switch (error) {
      case UncheckedIOException e -> inWords(e);
      case IOException e -> inWords(e);
      default -> null;
    };
  }

  /**
   * Replaces each {@code /proc/self/fd/N}, a path that this module passes to the JDK, by the path
   * of the directory that the descriptor has open.
   */
  private static String byName(String text) {
    return DESCRIPTOR
        .matcher(text)
        .replaceAll(found -> Matcher.quoteReplacement(target(found.group())));
  }

  private static String target(String link) {
    try {
      return Files.readSymbolicLink(Path.of(link)).toString();
    } catch (IOException e) {
      return link;
    }
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
