package io.erda.pmem;

import java.io.IOException;

/**
 * A memory that is being created a step at a time, so that whoever creates it can do other work in
 * between: see {@link MemoryDirectory#creating}. One thread, the directory's. Nothing is left
 * behind of one that was not finished, whether it was closed or its process ended.
 */
public interface Creation extends AutoCloseable {
  /**
   * One step: some tenths of a millisecond, where the file system plays along.
   *
   * @return the memory, as {@link MemoryDirectory#create} returns it, when this was the last step;
   *     else null
   * @throws OutOfSpaceException as {@link MemoryDirectory#create}; it is over then
   */
  PersistentMemory step() throws IOException;

  /** Gives up, unless it is over. Idempotent. */
  @Override
  void close();
}
