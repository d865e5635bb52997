package io.erda.server.engine;

import io.erda.logstore.ObjectLayout;

/** The puts and deletes that took effect since the store was opened. One thread. */
final class PutCounts {
  private long puts;
  private long deletes;
  private long bytes;

  void add(boolean delete, int objectBytes) {
    if (delete) {
      deletes++;
    } else {
      puts++;
    }
    bytes += ObjectLayout.padded(objectBytes);
  }

  long puts() {
    return puts;
  }

  long deletes() {
    return deletes;
  }

  /** Bytes of their objects, with padding. */
  long bytes() {
    return bytes;
  }
}
