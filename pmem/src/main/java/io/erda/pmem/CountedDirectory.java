package io.erda.pmem;

import java.util.Objects;

/**
 * Counts what is stored in every memory that is created or opened through it. Owns the directory
 * underneath.
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

  /** All memories together, closed ones too. Any thread. */
  public MemoryStatistics statistics() {
    return counter.statistics();
  }

  @Override
  protected PersistentMemory wrap(String name, PersistentMemory memory) {
    return new CountedMemory(memory, counter);
  }
}
