package io.erda.server.engine.publishing;

import io.erda.pmem.PersistentMemory;

/**
 * Waits for the device while a batch is made durable, so that the server's thread can serve others.
 * One group of drains is under way at a time. For the server's thread.
 */
public interface Syncs {
  /** The server's thread waits itself, because that takes hardly any time. */
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
          // Nothing is under way.
        }

        @Override
        public boolean isAtOnce() {
          return true;
        }
      };

  /**
   * Adds a drain to the next group, unless the group has it already. The memory stays open until
   * the group is done. REQUIRES: none is under way.
   */
  void add(PersistentMemory memory);

  /** Begins the drains of the group. */
  void begin();

  /**
   * Whether no drain is under way.
   *
   * @throws java.io.UncheckedIOException what a drain of the group threw, once
   */
  boolean isDone();

  /** Returns when no drain is under way; {@link #isDone} throws what failed. */
  void await();

  /**
   * Returns when no drain is under way, and drops the group and its failure, because the batch is
   * given up.
   */
  void cancel();

  /** Whether every group is done as soon as it was begun. */
  default boolean isAtOnce() {
    return false;
  }
}
