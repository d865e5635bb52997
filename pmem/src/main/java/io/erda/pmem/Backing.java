package io.erda.pmem;

import java.nio.file.Path;

/**
 * What another process maps to see the same bytes.
 *
 * @param file the file, or null where the memory belongs to one process (simulated or anonymous
 *     memory)
 * @param offset where the memory begins in the file, bytes
 * @param length bytes
 */
public record Backing(Path file, long offset, long length) {
  /** Memory that no other process can map. */
  public static Backing none(long length) {
    return new Backing(null, 0, length);
  }
}
