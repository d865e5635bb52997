package io.erda.pmem;

import java.io.IOException;

/**
 * A memory that is being created a step at a time, so that whoever creates it can do other work in
 * between: see {@link MemoryDirectory#creating}. One thread, the directory's. A creation that was
 * not finished leaves nothing behind, whether it was closed or its process ended.
 */
public interface Creation extends AutoCloseable {
  /**
   * One step: some tenths of a millisecond, where the file system plays along.
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
