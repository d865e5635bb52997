package io.erda.server.engine.service;

import io.erda.pmem.Creation;
import io.erda.pmem.PersistentMemory;

/**
 * What takes long with the files of regions, for whoever has threads for it: the server's own has
 * requests to answer. Called by the server's thread, returns at once. All of it may be done at once
 * instead, or not at all where a method says so.
 */
public interface FileWork {
  /** Everything is done by the caller, in steps. */
  FileWork AT_ONCE = new FileWork() {};

  /**
   * Does the steps of a creation elsewhere. What it returns is stepped by the server's thread as if
   * it was the creation, which is done when {@link Creation#step} says so.
   */
  default Creation creating(Creation creation) {
    return creation;
  }

  /** Gives back the pages of a memory whose file has no name any more, and closes it. */
  default void release(PersistentMemory memory) {
    memory.discard(0, memory.segment().byteSize());
    memory.close();
  }

  /** Whether something that was released still takes space. */
  default boolean releasing() {
    return false;
  }

  /**
   * Told at a low rate where each head appends: for preparing the pages ahead of it, which changes
   * no byte.
   */
  default void appending(int head, PersistentMemory memory, long place) {}
}
