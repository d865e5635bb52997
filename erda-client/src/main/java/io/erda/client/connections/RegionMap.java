package io.erda.client.connections;

import io.erda.rdma.QueuePair;

/**
 * The region map of one epoch: the remote key of each region of each head, and the table's
 * geometry. Immutable once published by its session.
 */
public final class RegionMap {
  /** Stands for no region. A remote key is never 0. */
  public static final long NONE = 0;

  public final long incarnation;
  public final long epoch;
  public final long tableKey;
  public final long entriesOffset;
  public final long buckets;

  /** The table that the current one is being resized into, or {@link #NONE}. */
  public final long nextTableKey;

  public final long nextBuckets;

  private final long[][] keys;
  private final int[][] generations;

  RegionMap(
      long incarnation,
      long epoch,
      long tableKey,
      long entriesOffset,
      long buckets,
      long nextTableKey,
      long nextBuckets,
      int heads) {
    this.incarnation = incarnation;
    this.epoch = epoch;
    this.tableKey = tableKey;
    this.entriesOffset = entriesOffset;
    this.buckets = buckets;
    this.nextTableKey = nextTableKey;
    this.nextBuckets = nextBuckets;
    this.keys = new long[heads][];
    this.generations = new int[heads][];
    for (int head = 0; head < heads; head++) {
      keys[head] = new long[0];
      generations[head] = new int[0];
    }
  }

  void add(int head, int index, int generation, long remoteKey) {
    if (index >= keys[head].length) {
      int length = Math.max(index + 1, 2 * keys[head].length);
      keys[head] = java.util.Arrays.copyOf(keys[head], length);
      generations[head] = java.util.Arrays.copyOf(generations[head], length);
    }
    keys[head][index] = remoteKey;
    generations[head][index] = generation;
  }

  /**
   * Remote key of a region, or {@link #NONE} when no region is linked there, or the store has no
   * such head: a damaged entry may name any head.
   */
  public long remoteKey(int head, int index) {
    if (head >= keys.length) {
      return NONE;
    }
    long[] ofHead = keys[head];
    return index < ofHead.length ? ofHead[index] : NONE;
  }

  /**
   * Releases the resources of regions that {@code newer} does not name. Returns whether there were
   * any.
   */
  boolean forgetMissing(RegionMap newer, QueuePair queuePair) {
    boolean missing = false;
    for (int head = 0; head < keys.length; head++) {
      for (int index = 0; index < keys[head].length; index++) {
        long key = keys[head][index];
        if (key != NONE && newer.remoteKey(head, index) != key) {
          queuePair.forget(key);
          missing = true;
        }
      }
    }
    return missing;
  }

  /** Generation of a linked region. */
  public int generation(int head, int index) {
    return generations[head][index];
  }
}
