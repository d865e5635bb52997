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
  private long shared;

  /** Counts a put, or a delete, whose object has this length without padding. */
  public void add(boolean delete, int objectBytes) {
    if (delete) {
      deletes++;
    } else {
      puts++;
    }
    bytes += ObjectLayout.padded(objectBytes);
  }

  /**
   * Counts several that clients have committed in their own threads, beside each other; their
   * objects have so many bytes with padding.
   */
  public void addShared(long ofPuts, long ofDeletes, long paddedBytes) {
    puts += ofPuts;
    deletes += ofDeletes;
    bytes += paddedBytes;
    shared += ofPuts + ofDeletes;
  }

  /** Returns how many of both were counted by {@link #addShared}. */
  public long shared() {
    return shared;
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
