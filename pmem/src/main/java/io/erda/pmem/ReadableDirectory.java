package io.erda.pmem;

import java.io.IOException;

/**
 * The files of a directory as somebody sees them who may only read: nothing is created, changed or
 * locked through it, and its owner does not notice. What it shows may be stored to by the owner's
 * process at any time. One thread.
 */
public interface ReadableDirectory extends AutoCloseable {
  /** Where a directory is looked for. */
  @FunctionalInterface
  interface Place {
    /**
     * Opens the directory that is there now. All files of it are found in that one, whatever takes
     * its place later.
     *
     * @throws java.nio.file.NoSuchFileException when there is none
     * @throws java.nio.file.AccessDeniedException when this user may not pass it
     */
    ReadableDirectory open() throws IOException;
  }

  /**
   * Opens a file at its full length.
   *
   * @throws java.nio.file.NoSuchFileException when there is none
   * @throws java.nio.file.AccessDeniedException when this user may not read it
   * @throws IOException also when it is no plain file, or empty
   */
  ReadableFile open(String name) throws IOException;

  /**
   * Has a file's name lead to the file that a writer will store to, as far as this user may: on a
   * file system of layers (overlayfs) the first who opens a file to write makes a copy of it, and
   * whoever opened it before never sees what is stored there. Elsewhere nothing happens. To be
   * called before the file is opened.
   */
  default void shareWithWriters(String name) throws IOException {}

  /** As {@link MemoryDirectory#boot()}. */
  int boot();

  /** Closes what was opened here and not yet closed. */
  @Override
  void close();
}
