package io.erda.server;

import io.erda.pmem.PersistentMemory;
import io.erda.server.engine.ServerCore;
import java.util.concurrent.locks.LockSupport;

/**
 * Prepares the pages ahead of where each head appends, on a thread of its own, so that neither
 * writers nor the server wait while the kernel finds and zeroes memory for them. Changes no byte,
 * and the store is right without it. It takes only processor time that nobody else wants: a poller
 * that loses its core to this thread for a time slice would wait longer than any page fault takes.
 *
 * <p>Must be closed before the store's memory is.
 */
final class Prefault implements ServerCore.AppendListener, AutoCloseable {
  /** How far ahead of a head's point of appending, bytes. */
  private static final long AHEAD_BYTES = 256L << 20;

  /** Of one call to the kernel, bytes: what closing may have to wait for. */
  private static final long CHUNK_BYTES = 1 << 20;

  private record Point(PersistentMemory memory, long place) {}

  private final Point[] points;
  private final PersistentMemory[] memories;
  private final long[] prepared;
  private final Thread thread;
  private volatile boolean closing;

  /** Bytes that the thread was told about, by head; written by the server's thread. */
  private final PersistentMemory[] toldMemory;

  private final long[] toldPlace;

  Prefault(int heads) {
    this.points = new Point[heads];
    this.memories = new PersistentMemory[heads];
    this.prepared = new long[heads];
    this.toldMemory = new PersistentMemory[heads];
    this.toldPlace = new long[heads];
    this.thread = new Thread(this::run, "erda-prefault");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void appending(int head, PersistentMemory memory, long place) {
    if (toldMemory[head] == memory && place - toldPlace[head] < CHUNK_BYTES) {
      return;
    }
    toldMemory[head] = memory;
    toldPlace[head] = place;
    synchronized (points) {
      points[head] = new Point(memory, place);
    }
    LockSupport.unpark(thread);
  }

  private void run() {
    boolean yielding = false;
    while (!closing) {
      if (!yielding && anyPoint()) {
        yielding = true;
        Limits.yieldToAll();
      }
      boolean worked = false;
      for (int head = 0; head < points.length && !closing; head++) {
        worked |= prepare(head);
      }
      if (!worked && !closing) {
        LockSupport.park(this);
      }
    }
  }

  private boolean anyPoint() {
    synchronized (points) {
      for (Point point : points) {
        if (point != null) {
          return true;
        }
      }
    }
    return false;
  }

  /** Prepares the next chunk of a head, if it is not far enough ahead. */
  private boolean prepare(int head) {
    Point point;
    synchronized (points) {
      point = points[head];
    }
    if (point == null) {
      return false;
    }
    if (memories[head] != point.memory) {
      memories[head] = point.memory;
      prepared[head] = 0;
    }
    long from = Math.max(prepared[head], point.place);
    long end = Math.min(point.memory.segment().byteSize(), point.place + AHEAD_BYTES);
    if (from >= end) {
      return false;
    }
    long length = Math.min(CHUNK_BYTES, end - from);
    point.memory.populate(from, length);
    prepared[head] = from + length;
    return true;
  }

  @Override
  public void close() {
    closing = true;
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
