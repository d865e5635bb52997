package io.erda.server.engine.service;

import io.erda.pmem.Creation;
import io.erda.pmem.PersistentMemory;

/**
 * The slow work on regions' files, for an implementation with threads: the server's thread has
 * requests to answer. The server's thread calls it, and it returns at once. It may also do the work
 * in the call, or not at all where a method says so.
 */
public interface FileWork {
  /** The caller does all work, in steps. */
  FileWork AT_ONCE = new FileWork() {};

  /**
   * Does the steps of a creation in another thread. The server's thread steps the returned object
   * as if it was the creation, which is done when {@link Creation#step} says so.
   */
  default Creation creating(Creation creation) {
    return creation;
  }

  /** Gives back the pages of a memory whose file was removed, and closes it. */
  default void release(PersistentMemory memory) {
    memory.discard(0, memory.segment().byteSize());
    memory.close();
  }

  /** Whether a released memory still takes space. */
  default boolean releasing() {
    return false;
  }

  /**
   * Is told at a low rate where each head appends, to prepare the pages ahead of it, which changes
   * no byte.
   */
  default void appending(int head, PersistentMemory memory, long place) {}
}
