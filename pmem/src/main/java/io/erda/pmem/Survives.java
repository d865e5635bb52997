package io.erda.pmem;

/**
 * The strongest failure that flushed and drained bytes survive; the order is from weaker to
 * stronger.
 */
public enum Survives {
  /**
   * A kill of any process, not of the kernel or the power: memory shared through the page cache.
   */
  PROCESS_CRASH,
  /**
   * Power failure: persistent memory, or files that {@link PersistentMemory#drain()} synchronises.
   */
  POWER_FAILURE
}
