package io.erda.pmem;

import java.io.IOException;

/**
 * A memory that is being created in steps, so that the thread that creates it can do other work in
 * between: see {@link MemoryDirectory#creating}. Only the directory's thread may use it. An
 * unfinished creation leaves nothing behind, whether it is closed or its process ends.
 */
public interface Creation extends AutoCloseable {
  /**
   * Does one step, which takes some tenths of a millisecond when the file system supports creation
   * in steps.
   *
   * @return the memory, as {@link MemoryDirectory#create} returns it, when this was the last step;
   *     else null
   * @throws OutOfSpaceException as {@link MemoryDirectory#create}; the creation is over then
   */
  PersistentMemory step() throws IOException;

  /** Gives up an unfinished creation. Idempotent. */
  @Override
  void close();
}
