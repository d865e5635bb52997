package io.erda.pmem;

import java.io.IOException;

/**
 * The files of a directory for a process that may only read them. Nothing is created, changed or
 * locked through it, and the owner of the directory does not notice it. The owner's process may
 * store to the files at any time. One thread.
 */
public interface ReadableDirectory extends AutoCloseable {
  /** The place where a directory is opened. */
  @FunctionalInterface
  interface Place {
    /**
     * Opens the directory that has the path now. All files are found in this directory, even when
     * another directory gets the path later.
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
   * Makes a file's name lead to the file that a writer will store to, as far as this user may. On
   * overlayfs the first opening for writing makes a copy of the file, and earlier openings never
   * see stores to the copy. On other file systems this does nothing. Call it before the file is
   * opened.
   */
  default void shareWithWriters(String name) throws IOException {}

  /** As {@link MemoryDirectory#boot()}. */
  int boot();

  /** Closes all files of this directory that are still open. */
  @Override
  void close();
}
