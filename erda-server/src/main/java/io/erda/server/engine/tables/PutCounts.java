package io.erda.server.engine.tables;

import io.erda.logstore.ObjectLayout;

/** The puts and deletes that took effect since the store was opened. One thread. */
public final class PutCounts {
  private long puts;
  private long deletes;
  private long bytes;

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
