package io.erda.pmem;

import java.util.Objects;
import java.util.function.LongSupplier;

/**
 * Delays the writes to every memory that is created or opened through it. Owns the wrapped
 * directory.
 */
public final class DelayedDirectory extends ForwardingDirectory {
  private final WriteDelay delay;
  private final LongSupplier nanoTime;

  /** See {@link DelayedMemory#DelayedMemory}. */
  public DelayedDirectory(MemoryDirectory directory, WriteDelay delay, LongSupplier nanoTime) {
    super(directory);
    this.delay = Objects.requireNonNull(delay);
    this.nanoTime = Objects.requireNonNull(nanoTime);
  }

  @Override
  protected PersistentMemory wrap(String name, PersistentMemory memory) {
    return new DelayedMemory(memory, delay, nanoTime);
  }
}
