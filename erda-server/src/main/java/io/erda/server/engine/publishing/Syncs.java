package io.erda.server.engine.publishing;

import io.erda.pmem.PersistentMemory;

/**
 * Waits for the device while a batch is made durable, so that the server's thread can serve other
 * requests. At most one group of drains is under way. For the server's thread.
 *
 * <p>The default methods drain the memory at each {@link #add}, in the server's thread. Another
 * implementation overrides all of them but {@link #isAtOnce}.
 */
public interface Syncs {
  /** The server's thread waits itself. This is for memory whose drains take hardly any time. */
  Syncs AT_ONCE = new Syncs() {};

  /**
   * Adds a drain to the next group, unless the group has it already. The memory stays open until
   * the group is done. REQUIRES: no group is under way.
   */
  default void add(PersistentMemory memory) {
    memory.drain();
  }

  /** Begins the drains of the group. */
  default void begin() {}

  /**
   * Whether no drain is under way.
   *
   * @throws java.io.UncheckedIOException the exception of a drain of the group; thrown once
   */
  default boolean isDone() {
    return true;
  }

  /**
   * Waits until no drain is under way. {@link #isDone} then throws the exception of a drain that
   * failed.
   */
  default void await() {}

  /**
   * Waits until no drain is under way, and drops the group and its failure, because the batch is
   * given up.
   */
  default void cancel() {}

  /** Whether every group is done when {@link #begin} returns. */
  default boolean isAtOnce() {
    return this == AT_ONCE;
  }
}
