package io.erda.pmem;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * The part of a file that another process maps to see the bytes of a memory.
 *
 * @param file the file, or null where the memory belongs to one process (simulated or anonymous
 *     memory)
 * @param offset where the memory begins in the file, bytes
 * @param length bytes
 * @param directory the open directory that the file is in; it may have been renamed since it was
 *     opened. Null when no directory is open
 */
public record Backing(Path file, long offset, long length, OpenDirectory directory) {
  public Backing {
    assert offset >= 0 && length >= 0 && (file != null || directory == null)
        : length + " bytes at " + offset + " of " + file + " in " + directory;
  }

  /** A file that is found by its path. */
  public Backing(Path file, long offset, long length) {
    this(file, offset, length, null);
  }

  /** Memory that no other process can map. */
  public static Backing none(long length) {
    return new Backing(null, 0, length);
  }

  /**
   * Returns the present length of the file in bytes.
   *
   * @throws IOException when the length can't be determined, for example because the file has no
   *     name any more
   */
  public long fileBytes() throws IOException {
    if (directory == null) {
      return Files.size(file);
    }
    FileStatus status = directory.status(file.getFileName().toString());
    if (status == null) {
      throw new NoSuchFileException(file.toString());
    }
    return status.bytes();
  }
}
