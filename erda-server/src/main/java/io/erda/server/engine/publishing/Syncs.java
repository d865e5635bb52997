package io.erda.server.engine.publishing;

import io.erda.pmem.PersistentMemory;

/**
 * Waits for the device while a batch is made durable, so that the server's thread can serve other
 * requests. At most one group of drains is under way. For the server's thread.
 */
public interface Syncs {
  /** The server's thread waits itself. This is for memory whose drains take hardly any time. */
  Syncs AT_ONCE =
      new Syncs() {
        @Override
        public void add(PersistentMemory memory) {
          memory.drain();
        }

        @Override
        public void begin() {
          // All drains are done when they were added.
        }

        @Override
        public boolean isDone() {
          return true;
        }

        @Override
        public void await() {
          // All drains are done when they were added.
        }

        @Override
        public void cancel() {
          // No drain is under way.
        }

        @Override
        public boolean isAtOnce() {
          return true;
        }
      };

  /**
   * Adds a drain to the next group, unless the group has it already. The memory stays open until
   * the group is done. REQUIRES: no group is under way.
   */
  void add(PersistentMemory memory);

  /** Begins the drains of the group. */
  void begin();

  /**
   * Whether no drain is under way.
   *
   * @throws java.io.UncheckedIOException the exception of a drain of the group; thrown once
   */
  boolean isDone();

  /**
   * Waits until no drain is under way. {@link #isDone} then throws the exception of a drain that
   * failed.
   */
  void await();

  /**
   * Waits until no drain is under way, and drops the group and its failure, because the batch is
   * given up.
   */
  void cancel();

  /** Whether every group is done when {@link #begin} returns. */
  default boolean isAtOnce() {
    return false;
  }
}
