package io.erda.server;

import io.erda.pmem.AvailableMemory;
import io.erda.pmem.PersistentMemory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Prepares the pages ahead of the place where each head appends, and the pages of new files, so
 * that neither writers nor the server wait while the kernel finds and zeroes memory. Also gives
 * back the pages of removed files. It works in a separate thread, which pauses after each mebibyte,
 * because a poller that loses its core for a time slice waits longer than any page fault takes. The
 * priority of the thread is not lower than that of others: while the kernel prepares or unmaps
 * pages it holds the lock of the process's address space, and whoever maps memory would wait for a
 * thread that gets no processor. The store is correct without it.
 *
 * <p>Any thread may call {@link #made}; only the thread that has the server's turn calls the other
 * methods. There is no lock: a virtual thread that waited for one would be unmounted with the turn.
 */
final class PageKeeper implements AutoCloseable {
  /** How far ahead of a head's point of appending pages are prepared, bytes, if memory allows. */
  private static final long AHEAD_BYTES_MAX = 256L << 20;

  /**
   * The share of memory that the prepared pages of all heads, and of the file that is made next,
   * may take.
   */
  private static final int AHEAD_SHARE = 32;

  /**
   * How far ahead pages are prepared that are written to a device, bytes: less, because a drain of
   * the same file waits until they are written.
   */
  private static final long AHEAD_ON_DEVICE_BYTES = 4 << 20;

  /**
   * The bytes of one call to the kernel. Closing may have to wait for one call, and so may a thread
   * that maps memory at the same time.
   */
  private static final long CHUNK_BYTES = 256 << 10;

  /**
   * The distance in bytes by which a head's point of appending moves before the thread is told of
   * it again.
   */
  private static final long TELL_BYTES = 1 << 20;

  /**
   * The pause after as many bytes. In memory the kernel takes about 0.25 ms for them, so the thread
   * has a fifth of a core at most, and is in the way of one put of 1 KiB in a thousand.
   */
  private static final long PAUSE_NS = 1_000_000;

  private record Point(PersistentMemory memory, long place) {}

  private final long aheadBytes;
  private final Queue<PersistentMemory> released = new ConcurrentLinkedQueue<>();
  private final AtomicInteger releasing = new AtomicInteger();
  private final AtomicLong failures = new AtomicLong();

  /** Where each head appends. */
  private final AtomicReferenceArray<Point> points;

  /** The beginning of the newest file. */
  private final AtomicReference<Point> fresh = new AtomicReference<>();

  /**
   * Memories that a head has begun to append to, whose pages may have been prepared long before.
   */
  private final Queue<PersistentMemory> begun = new ConcurrentLinkedQueue<>();

  // Used only by the server's thread.

  private final PersistentMemory[] toldMemory;
  private final long[] toldPlace;

  private final Thread thread;
  private volatile boolean closing;

  /** Bytes since the last pause. Used only by the thread. */
  private long sincePause;

  /**
   * Starts the thread.
   *
   * @param aheadBytes how far ahead of each head pages are prepared
   * @param failures receives the error that ends the thread
   */
  PageKeeper(int heads, long aheadBytes, Failures failures) {
    this.points = new AtomicReferenceArray<>(heads);
    this.aheadBytes = aheadBytes;
    this.toldMemory = new PersistentMemory[heads];
    this.toldPlace = new long[heads];
    this.thread = SideThreads.start(this::tendPages, "erda-pages", failures);
  }

  /** Returns how many bytes may be prepared ahead of each head with the memory of this process. */
  static long aheadBytes(int heads) {
    return Math.clamp(
        AvailableMemory.bytes() / AHEAD_SHARE / (heads + 1), 2 * TELL_BYTES, AHEAD_BYTES_MAX);
  }

  /** Notes a new file, to which heads append later. */
  void made(PersistentMemory memory) {
    fresh.set(new Point(memory, 0));
    LockSupport.unpark(thread);
  }

  /** See {@link io.erda.server.engine.service.FileWork#release}. */
  void release(PersistentMemory memory) {
    forget(memory);
    releasing.incrementAndGet();
    if (closing) {
      giveBack(memory);
      return;
    }
    released.add(memory);
    LockSupport.unpark(thread);
  }

  private void forget(PersistentMemory memory) {
    Point newest = fresh.get();
    if (newest != null && newest.memory == memory) {
      fresh.compareAndSet(newest, null);
    }
    for (int head = 0; head < points.length(); head++) {
      Point point = points.get(head);
      if (point != null && point.memory == memory) {
        points.set(head, null);
      }
    }
  }

  /** Whether a released file still has space that was not given back yet. */
  boolean releasing() {
    return releasing.get() > 0;
  }

  /** See {@link io.erda.server.engine.service.FileWork#appending}. */
  void appending(int head, PersistentMemory memory, long place) {
    if (toldMemory[head] == memory && Math.abs(place - toldPlace[head]) < TELL_BYTES) {
      return;
    }
    boolean another = toldMemory[head] != memory;
    toldMemory[head] = memory;
    toldPlace[head] = place;
    points.set(head, new Point(memory, place));
    if (another && !memory.drainWaitsForDevice()) {
      begun.add(memory);
    }
    LockSupport.unpark(thread);
  }

  private void tendPages() {
    Map<PersistentMemory, Long> prepared = new HashMap<>();
    while (!closing) {
      List<Point> wanted = wanted(prepared);
      PersistentMemory gone = nextReleased();
      boolean worked = gone != null;
      try {
        for (int i = 0; i < wanted.size() && !closing; i++) {
          worked |= prepare(wanted.get(i), prepared);
        }
      } catch (RuntimeException | Error e) {
        failed();
      }
      if (gone != null) {
        prepared.remove(gone);
        try {
          giveBack(gone);
        } catch (RuntimeException | Error e) {
          failed();
        }
      }
      if (!worked && !closing) {
        LockSupport.park(this);
      }
    }
  }

  /**
   * Notes a failure. The thread goes on, because files that are released later must be given back,
   * too.
   */
  private void failed() {
    failures.incrementAndGet();
  }

  /** How often the thread failed to prepare or give back pages. */
  long failures() {
    return failures.get();
  }

  private List<Point> wanted(Map<PersistentMemory, Long> prepared) {
    List<Point> wanted = new ArrayList<>();
    for (PersistentMemory next = begun.poll(); next != null; next = begun.poll()) {
      prepared.remove(next);
    }
    for (int head = 0; head < points.length(); head++) {
      Point point = points.get(head);
      if (point != null) {
        wanted.add(point);
      }
    }
    Point newest = fresh.get();
    if (newest != null) {
      wanted.add(newest);
    }
    return wanted;
  }

  private PersistentMemory nextReleased() {
    return released.poll();
  }

  private void giveBack(PersistentMemory memory) {
    long length = memory.segment().byteSize();
    try {
      for (long from = 0; from < length && !closing; from += CHUNK_BYTES) {
        memory.discard(from, Math.min(CHUNK_BYTES, length - from));
        pauseAfter(CHUNK_BYTES);
      }
      if (closing) {
        memory.discard(0, length);
      }
    } finally {
      memory.close();
      releasing.decrementAndGet();
    }
  }

  /**
   * Prepares the next chunk after a point, if the prepared pages do not reach far enough. Pages of
   * a reused region may be in memory, or may have been evicted. They are prepared again, unless
   * that would write them to a device.
   */
  private boolean prepare(Point point, Map<PersistentMemory, Long> prepared) {
    long length = point.memory.segment().byteSize();
    long from = Math.max(prepared.getOrDefault(point.memory, 0L), point.place);
    long ahead =
        point.memory.drainWaitsForDevice()
            ? Math.min(AHEAD_ON_DEVICE_BYTES, aheadBytes)
            : aheadBytes;
    long end = Math.min(length, point.place + ahead);
    if (from >= end) {
      return false;
    }
    long chunk = Math.min(CHUNK_BYTES, end - from);
    point.memory.readAhead(from, chunk);
    point.memory.populate(from, chunk);
    prepared.put(point.memory, from + chunk);
    pauseAfter(chunk);
    return true;
  }

  private void pauseAfter(long bytes) {
    sincePause += bytes;
    if (sincePause >= TELL_BYTES && !closing) {
      sincePause = 0;
      LockSupport.parkNanos(this, PAUSE_NS);
    }
  }

  /** Ends the thread, after the released files' pages are given back. Idempotent. */
  @Override
  public void close() {
    closing = true;
    SideThreads.join(thread);
    for (PersistentMemory memory = nextReleased(); memory != null; memory = nextReleased()) {
      giveBack(memory);
    }
  }
}
