package io.erda.logstore;

/** The outcome of asking for space. */
public sealed interface LeaseResult {
  /** Space to write to. */
  record Leased(Extent extent) implements LeaseResult {}

  /** Every region is full and no more may be linked. */
  record LogFull(long capacityBytes) implements LeaseResult {}

  /**
   * Another region is allowed, but the file system has no room for it.
   *
   * @param ofFileSize whether the limit is that of one file's size
   */
  record DiskFull(String message, boolean ofFileSize) implements LeaseResult {}

  /** Another region is allowed, but its file could not be made just now, with room for it. */
  record NotNow(String message) implements LeaseResult {}

  /** Another region is needed, and its file is being made: ask again. */
  record NotReady() implements LeaseResult {}
}
