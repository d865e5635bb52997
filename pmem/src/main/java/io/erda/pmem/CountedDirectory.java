package io.erda.pmem;

import java.util.Objects;

/**
 * Counts the stores to every memory that is created or opened through it. Owns the wrapped
 * directory.
 */
public final class CountedDirectory extends ForwardingDirectory {
  private final StoreCounter counter;

  /** Counts with a counter of its own. */
  public CountedDirectory(MemoryDirectory directory) {
    this(directory, new StoreCounter());
  }

  /** Counts with a counter that may be shared. */
  public CountedDirectory(MemoryDirectory directory, StoreCounter counter) {
    super(directory);
    this.counter = Objects.requireNonNull(counter);
  }

  /**
   * Returns the counts of all memories together, including closed ones. Any thread may call this.
   */
  public MemoryStatistics statistics() {
    return counter.statistics();
  }

  @Override
  protected PersistentMemory wrap(String name, PersistentMemory memory) {
    return new CountedMemory(memory, counter);
  }
}
