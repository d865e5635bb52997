package io.erda.pmem;

import java.io.IOException;

/**
 * The files of a directory for a process that may only read: nothing is created, changed or locked
 * through it, and its owner does not notice. The owner's process may store to the files at any
 * time. One thread.
 */
public interface ReadableDirectory extends AutoCloseable {
  /** Where a directory is looked for. */
  @FunctionalInterface
  interface Place {
    /**
     * Opens the directory that is there now, and finds all files in that one, even when another
     * takes its place later.
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
   * Makes a file's name lead to the file that a writer will store to, as far as this user may: on
   * overlayfs the first opening to write makes a copy of the file, and earlier openings never see
   * stores to the copy. Elsewhere nothing happens. To be called before the file is opened.
   */
  default void shareWithWriters(String name) throws IOException {}

  /** As {@link MemoryDirectory#boot()}. */
  int boot();

  /** Closes what was opened here and not yet closed. */
  @Override
  void close();
}
