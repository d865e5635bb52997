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
  /** The name that it was opened by. */
  String name();

  /** Bytes, when it was opened. */
  long length();

  /** Loads an 8-aligned word, before all loads that come after. */
  long word(long offset);

  /**
   * Loads bytes, in any order among themselves, before all loads that come after. A word that is
   * 8-aligned in the file and in memory is never torn.
   */
  void load(long offset, MemorySegment to, long toOffset, int length);

  /**
   * Loads a word only to bring it into the processor's cache. The result means nothing; it keeps
   * the compiler from leaving the load out.
   */
  default long glimpse(long offset) {
    return 0;
  }

  /**
   * Whether its name, in the directory that has the directory's name now, still names this file.
   * May cost system calls.
   */
  boolean isCurrent();

  /** How much is left of a file that was shortened, in words; null when all of it is. */
  default String loss() {
    return null;
  }

  /** Releases the mapping. Idempotent. */
  @Override
  void close();
}
