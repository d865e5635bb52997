package io.erda.server.engine.publishing;

import io.erda.pmem.PersistentMemory;

/**
 * Who waits for the device while a batch is made durable: the server's own thread has others to
 * serve. One group of drains is under way at a time. The methods are the server's thread's.
 */
public interface Syncs {
  /** The server's thread waits itself, where that takes no time to speak of. */
  Syncs AT_ONCE =
      new Syncs() {
        @Override
        public void add(PersistentMemory memory) {
          memory.drain();
        }

        @Override
        public void begin() {
          // They are done.
        }

        @Override
        public boolean isDone() {
          return true;
        }

        @Override
        public void await() {
          // They are done.
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
   * Adds a drain to the next group, unless the same one is there already. The memory stays open
   * until the group is done. REQUIRES: none is under way.
   */
  void add(PersistentMemory memory);

  /** Begins with the group that was added. */
  void begin();

  /**
   * Whether nothing is under way.
   *
   * @throws java.io.UncheckedIOException what a drain of the group threw, once
   */
  boolean isDone();

  /** Returns when nothing is under way; what failed is told by {@link #isDone}. */
  void await();

  /**
   * Returns when nothing is under way, and forgets what was added and what failed: nobody relies on
   * it.
   */
  void cancel();

  /** Whether every group is done as soon as it was begun. */
  default boolean isAtOnce() {
    return false;
  }
}
