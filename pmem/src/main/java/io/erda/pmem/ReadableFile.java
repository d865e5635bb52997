package io.erda.pmem;

import java.lang.foreign.MemorySegment;

/**
 * A file that is mapped to be read, while another process may store into it. The mapping goes on to
 * show the same file when the name is removed or given to another file. One thread.
 *
 * <p>A load behind the end of a file that was shortened meets a fault, which the JVM throws later:
 * {@link MemoryGuard}.
 */
public interface ReadableFile extends AutoCloseable {
  /** The name by which it was opened. */
  String name();

  /** The length of the file in bytes when it was opened. */
  long length();

  /** Loads an 8-aligned word, before all later loads (acquire semantics). */
  long word(long offset);

  /**
   * Loads bytes, in any order among themselves, and before all later loads. A word that is
   * 8-aligned in the file and in memory is never torn.
   */
  void load(long offset, MemorySegment to, long toOffset, int length);

  /**
   * Loads a word only to bring it into the processor's cache. The result has no meaning; it is
   * returned so that the compiler does not remove the load.
   */
  default long glimpse(long offset) {
    return 0;
  }

  /**
   * Whether the file's name still leads to this file, in the directory that the directory's path
   * leads to now. May cost system calls.
   */
  boolean isCurrent();

  /**
   * Returns the remaining length of a file that was shortened, in words; null when the file was not
   * shortened.
   */
  default String loss() {
    return null;
  }

  /** Releases the mapping. Idempotent. */
  @Override
  void close();
}
