package io.erda.server;

import io.erda.pmem.AvailableMemory;
import io.erda.pmem.Creation;
import io.erda.pmem.PersistentMemory;
import io.erda.server.engine.FileWork;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * Two threads beside the server's. One makes the files of regions to come: somebody may wait for
 * it. The other takes only processor time that nobody else wants, because a poller that loses its
 * core for a time slice waits longer than any page fault takes: it prepares the pages ahead of
 * where each head appends and those of new files, so that neither writers nor the server wait while
 * the kernel finds and zeroes memory, and gives the pages of removed files back. The store is right
 * without that one.
 *
 * <p>Must be closed before the store's memory is.
 */
final class FileThreads implements FileWork, AutoCloseable {
  /** How far ahead of a head's point of appending, bytes, where there is memory for that. */
  private static final long AHEAD_BYTES_MAX = 256L << 20;

  /** Of all heads together, and of the file that is made next: this share of memory at most. */
  private static final int AHEAD_SHARE = 32;

  /**
   * How far ahead pages are prepared that are written to a device, bytes: less, because a drain of
   * the same file waits until they are written.
   */
  private static final long AHEAD_ON_DEVICE_BYTES = 4 << 20;

  /**
   * The bytes of one call to the kernel. Closing may have to wait for one call, and so may whoever
   * maps something meanwhile.
   */
  private static final long CHUNK_BYTES = 256 << 10;

  /** How often the threads are told where a head appends, bytes. */
  private static final long TELL_BYTES = 1 << 20;

  private record Point(PersistentMemory memory, long place) {}

  private final Object lock = new Object();

  // Guarded by the lock.

  private final ArrayDeque<Ahead> creations = new ArrayDeque<>();
  private final ArrayDeque<PersistentMemory> released = new ArrayDeque<>();
  private int releasing;
  private long failures;
  private Throwable failure;
  private final Point[] points;
  private Point fresh;

  /** Memories that a head has begun to append to, whose pages may have been prepared long ago. */
  private final List<PersistentMemory> begun = new ArrayList<>();

  private final long aheadBytes;

  // The server's thread.

  private final PersistentMemory[] toldMemory;
  private final long[] toldPlace;

  private final Thread files;
  private final Thread pages;
  private volatile boolean closing;

  FileThreads(int heads) {
    this.points = new Point[heads];
    this.aheadBytes =
        Math.clamp(
            AvailableMemory.bytes() / AHEAD_SHARE / (heads + 1), 2 * TELL_BYTES, AHEAD_BYTES_MAX);
    this.toldMemory = new PersistentMemory[heads];
    this.toldPlace = new long[heads];
    this.files = start(this::makeFiles, "erda-files");
    this.pages = start(this::tendPages, "erda-pages");
  }

  private static Thread start(Runnable work, String name) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  // Files.

  /** A creation of which the other thread does all. */
  private final class Ahead implements Creation {
    private final Creation creation;
    private Throwable failure;
    private PersistentMemory memory;
    private volatile boolean over;
    private volatile boolean cancelled;
    private boolean taken;

    Ahead(Creation creation) {
      this.creation = creation;
    }

    /** The files' thread. */
    void make() {
      try (creation) {
        while (memory == null && !closing && !cancelled) {
          memory = creation.step();
        }
      } catch (IOException | RuntimeException | Error e) {
        failure = e;
      }
      over = true;
    }

    @Override
    public PersistentMemory step() throws IOException {
      if (!over) {
        return null;
      }
      if (failure instanceof IOException e) {
        throw e;
      }
      if (failure instanceof RuntimeException e) {
        throw e;
      }
      if (failure instanceof Error e) {
        throw e;
      }
      taken = memory != null;
      return memory;
    }

    @Override
    public void close() {
      cancelled = true;
      if (over && !taken && memory != null) {
        memory.close();
      }
    }
  }

  @Override
  public Creation creating(Creation creation) {
    Ahead ahead = new Ahead(creation);
    synchronized (lock) {
      creations.add(ahead);
    }
    LockSupport.unpark(files);
    return ahead;
  }

  private void makeFiles() {
    while (!closing) {
      Ahead next;
      synchronized (lock) {
        next = creations.poll();
      }
      if (next == null) {
        LockSupport.park(this);
        continue;
      }
      next.make();
      if (next.memory != null) {
        synchronized (lock) {
          fresh = new Point(next.memory, 0);
        }
        LockSupport.unpark(pages);
      }
    }
  }

  // Pages.

  @Override
  public void release(PersistentMemory memory) {
    synchronized (lock) {
      forget(memory);
      releasing++;
      if (!closing) {
        released.add(memory);
      }
    }
    if (closing) {
      giveBack(memory);
      return;
    }
    LockSupport.unpark(pages);
  }

  private void forget(PersistentMemory memory) {
    if (fresh != null && fresh.memory == memory) {
      fresh = null;
    }
    for (int head = 0; head < points.length; head++) {
      if (points[head] != null && points[head].memory == memory) {
        points[head] = null;
      }
    }
  }

  @Override
  public boolean releasing() {
    synchronized (lock) {
      return releasing > 0;
    }
  }

  @Override
  public void appending(int head, PersistentMemory memory, long place) {
    if (toldMemory[head] == memory && Math.abs(place - toldPlace[head]) < TELL_BYTES) {
      return;
    }
    boolean another = toldMemory[head] != memory;
    toldMemory[head] = memory;
    toldPlace[head] = place;
    synchronized (lock) {
      points[head] = new Point(memory, place);
      if (another && !memory.drainWaitsForDevice()) {
        begun.add(memory);
      }
    }
    LockSupport.unpark(pages);
  }

  private void tendPages() {
    Map<PersistentMemory, Long> prepared = new HashMap<>();
    boolean yielding = false;
    while (!closing) {
      List<Point> wanted = wanted(prepared);
      PersistentMemory gone = nextReleased();
      boolean worked = gone != null;
      try {
        if (!yielding && (gone != null || !wanted.isEmpty())) {
          yielding = true;
          Niceness.ofThisThread();
        }
        for (int i = 0; i < wanted.size() && !closing; i++) {
          worked |= prepare(wanted.get(i), prepared);
        }
      } catch (RuntimeException | Error e) {
        failed(e);
      }
      if (gone != null) {
        prepared.remove(gone);
        try {
          giveBack(gone);
        } catch (RuntimeException | Error e) {
          failed(e);
        }
      }
      if (!worked && !closing) {
        LockSupport.park(this);
      }
    }
  }

  /** The thread goes on: what is released later must not stay. */
  private void failed(Throwable e) {
    synchronized (lock) {
      failures++;
      failure = e;
    }
  }

  /** How often the pages' thread could not do a piece of its work. */
  long failures() {
    synchronized (lock) {
      return failures;
    }
  }

  /** Why that was, the last time; null when it was never. */
  Throwable failure() {
    synchronized (lock) {
      return failure;
    }
  }

  private List<Point> wanted(Map<PersistentMemory, Long> prepared) {
    List<Point> wanted = new ArrayList<>();
    synchronized (lock) {
      begun.forEach(prepared::remove);
      begun.clear();
      for (Point point : points) {
        if (point != null) {
          wanted.add(point);
        }
      }
      if (fresh != null) {
        wanted.add(fresh);
      }
    }
    return wanted;
  }

  private PersistentMemory nextReleased() {
    synchronized (lock) {
      return released.poll();
    }
  }

  private void giveBack(PersistentMemory memory) {
    long length = memory.segment().byteSize();
    try {
      for (long from = 0; from < length && !closing; from += CHUNK_BYTES) {
        memory.discard(from, Math.min(CHUNK_BYTES, length - from));
      }
      if (closing) {
        memory.discard(0, length);
      }
    } finally {
      memory.close();
      synchronized (lock) {
        releasing--;
      }
    }
  }

  /**
   * Prepares the next chunk behind a point, if it is not far enough ahead. Pages of a region that
   * is used again may be there, or were put out meanwhile: they are prepared again, but where that
   * would write them to a device.
   */
  private boolean prepare(Point point, Map<PersistentMemory, Long> prepared) {
    long length = point.memory.segment().byteSize();
    long from = Math.max(prepared.getOrDefault(point.memory, 0L), point.place);
    long ahead = point.memory.drainWaitsForDevice() ? AHEAD_ON_DEVICE_BYTES : aheadBytes;
    long end = Math.min(length, point.place + ahead);
    if (from >= end) {
      return false;
    }
    long chunk = Math.min(CHUNK_BYTES, end - from);
    point.memory.readAhead(from, chunk);
    point.memory.populate(from, chunk);
    prepared.put(point.memory, from + chunk);
    return true;
  }

  @Override
  public void close() {
    closing = true;
    join(files);
    join(pages);
    for (Ahead each : creations) {
      each.creation.close();
    }
    for (PersistentMemory memory = nextReleased(); memory != null; memory = nextReleased()) {
      giveBack(memory);
    }
  }

  private static void join(Thread thread) {
    LockSupport.unpark(thread);
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
