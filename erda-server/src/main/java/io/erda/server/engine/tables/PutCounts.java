package io.erda.server.engine.tables;

import io.erda.logstore.ObjectLayout;

/**
 * Counts the puts and the deletes that took effect since the store was opened, and the bytes of
 * their objects. One thread.
 */
public final class PutCounts {
  private long puts;
  private long deletes;
  private long bytes;

  /** Counts a put, or a delete, whose object has this length without padding. */
  public void add(boolean delete, int objectBytes) {
    if (delete) {
      deletes++;
    } else {
      puts++;
    }
    bytes += ObjectLayout.padded(objectBytes);
  }

  public long puts() {
    return puts;
  }

  public long deletes() {
    return deletes;
  }

  /** Total bytes of their objects, with padding. */
  public long bytes() {
    return bytes;
  }
}
