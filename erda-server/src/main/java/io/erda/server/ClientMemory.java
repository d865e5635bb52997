package io.erda.server;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * The memory of this JVM that a further client would take: outside of the heap ({@link
 * DirectMemory}), and within it. A server that uses up either ends. Memory of clients that have
 * left is found by the garbage collector. One thread.
 */
final class ClientMemory {
  /** A share of the heap is reserved for the clients that are there, one part of so many. */
  private static final int HEAP_RESERVED_SHARE = 6;

  private static final long HEAP_RESERVED_BYTES_MAX = 64 << 20;

  /** The least time between two collections; it doubles with each that was in vain. */
  private static final long COLLECT_NS_MIN = 1_000_000_000;

  private static final long COLLECT_NS_MAX = 64_000_000_000L;

  /** How long the cleaners may take behind a collection. */
  private static final int FREED_WITHIN_MS = 10;

  /**
   * After a collection that has freed enough the next one comes no sooner than so many times as
   * long as it took. Until then the heap is taken to be full of garbage.
   */
  private static final int PAUSES_BETWEEN = 10;

  private final Runtime runtime = Runtime.getRuntime();
  private final long heapReservedBytes =
      Math.min(runtime.maxMemory() / HEAP_RESERVED_SHARE, HEAP_RESERVED_BYTES_MAX);
  private final LongSupplier nanoTime;
  private long nextCollectionNs;
  private long collectNs = COLLECT_NS_MIN;

  /** Whether the last collection has freed too little. */
  private boolean vain;

  /**
   * @param nanoTime a monotonic clock
   */
  ClientMemory(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    nextCollectionNs = nanoTime.getAsLong();
  }

  /**
   * Whether only the memory is left that is reserved for the clients that are there. While it seems
   * so, this asks for a collection now and then, and waits some milliseconds for it.
   */
  boolean isScarce() {
    if (!isUsedUp()) {
      return false;
    }
    long beganNs = nanoTime.getAsLong();
    if (beganNs - nextCollectionNs < 0) {
      return vain || DirectMemory.isUsedUp();
    }
    System.gc();
    long tookNs = nanoTime.getAsLong() - beganNs;
    for (int i = 0; i < FREED_WITHIN_MS && isUsedUp(); i++) {
      LockSupport.parkNanos(1_000_000);
    }
    vain = isUsedUp();
    collectNs = vain ? Math.min(2 * collectNs, COLLECT_NS_MAX) : COLLECT_NS_MIN;
    nextCollectionNs = nanoTime.getAsLong() + (vain ? collectNs : PAUSES_BETWEEN * tookNs);
    return vain;
  }

  private boolean isUsedUp() {
    return DirectMemory.isUsedUp() || isHeapUsedUp();
  }

  private boolean isHeapUsedUp() {
    long used = runtime.totalMemory() - runtime.freeMemory();
    return runtime.maxMemory() - used < heapReservedBytes;
  }
}
