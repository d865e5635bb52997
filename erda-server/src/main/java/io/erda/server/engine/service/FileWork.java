package io.erda.server.engine.service;

import io.erda.pmem.Creation;
import io.erda.pmem.PersistentMemory;

/**
 * The slow work on the files of regions. An implementation with threads keeps this work out of the
 * server's thread, which has requests to answer. The server's thread calls the methods, which
 * return at once. An implementation may also do the work in the call, or omit it where a method
 * allows that.
 */
public interface FileWork {
  /** An implementation without threads: the caller does all work, in steps. */
  FileWork AT_ONCE = new FileWork() {};

  /**
   * Does the steps of a creation in another thread. The server's thread calls {@link Creation#step}
   * of the returned object as if it was the creation; the creation is done when that returns the
   * memory.
   */
  default Creation creating(Creation creation) {
    return creation;
  }

  /** Gives back the pages of a memory whose file was removed, and closes it. */
  default void release(PersistentMemory memory) {
    memory.discard(0, memory.segment().byteSize());
    memory.close();
  }

  /** Whether a released memory still takes disk space. */
  default boolean releasing() {
    return false;
  }

  /**
   * Receives, at a low rate, the place where each head appends, so that the pages ahead of it can
   * be prepared. This changes no byte.
   */
  default void appending(int head, PersistentMemory memory, long place) {}
}
