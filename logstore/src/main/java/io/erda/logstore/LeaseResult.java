package io.erda.logstore;

/** The result of a request for space. */
public sealed interface LeaseResult {
  /** Space was leased. */
  record Leased(Extent extent) implements LeaseResult {}

  /** Every region is full, and no more regions may be linked. */
  record LogFull(long capacityBytes) implements LeaseResult {}

  /**
   * Another region is allowed, but the file system has no room for it.
   *
   * @param ofFileSize whether the limit is that of one file's size
   */
  record DiskFull(String message, boolean ofFileSize) implements LeaseResult {}

  /**
   * Another region is allowed and there is room for its file, but making the file failed just now.
   */
  record NotNow(String message) implements LeaseResult {}

  /** Another region is needed, and its file is being made; try again later. */
  record NotReady() implements LeaseResult {}
}
