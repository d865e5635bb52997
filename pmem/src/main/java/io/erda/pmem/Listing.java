package io.erda.pmem;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The names in a directory. When a directory can't be read to its end, the JDK throws an unchecked
 * exception; its errors name the path that was opened, which may lie in {@code /proc}. This class
 * always throws an {@link IOException} that names the directory.
 */
public final class Listing {
  private Listing() {}

  /** Something that opens a directory. */
  interface Opening {
    DirectoryStream<Path> open() throws IOException;
  }

  /** All names, of whatever kind, in no order. */
  public static List<String> names(Path directory) throws IOException {
    return names(directory, directory);
  }

  /**
   * All names, of whatever kind, in no order.
   *
   * @param opened the path that is opened
   * @param told the directory's path in messages
   */
  public static List<String> names(Path opened, Path told) throws IOException {
    return names(() -> stream(opened), told);
  }

  /**
   * Checks that the path leads to a directory, because the JDK would also open a FIFO, and wait for
   * the other end of it.
   */
  @SuppressWarnings("StreamResourceLeak") // the caller closes it
  private static DirectoryStream<Path> stream(Path opened) throws IOException {
    if (Files.exists(opened) && !Files.isDirectory(opened)) {
      throw new FileSystemException(opened.toString(), null, "not a directory");
    }
    return Files.newDirectoryStream(opened);
  }

  static List<String> names(Opening opening, Path told) throws IOException {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> files = opening.open()) {
      files.forEach(file -> names.add(file.getFileName().toString()));
    } catch (DirectoryIteratorException e) {
      throw unreadable(told, e.getCause());
    } catch (UncheckedIOException e) {
      throw unreadable(told, e.getCause());
    } catch (FileSystemException e) {
      throw unreadable(told, e);
    }
    return names;
  }

  private static FileSystemException unreadable(Path told, IOException e) {
    String reason =
        e instanceof FileSystemException of && of.getReason() != null
            ? of.getReason()
            : FileErrors.inWords(e);
    FileSystemException named =
        new FileSystemException(told.toString(), null, "can't be listed: " + reason);
    named.initCause(e);
    return named;
  }
}
