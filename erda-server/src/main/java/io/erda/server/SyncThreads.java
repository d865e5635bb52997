package io.erda.server;

import io.erda.pmem.PersistentMemory;
import io.erda.server.engine.publishing.Syncs;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that wait for the device instead of the server's thread, each for one file at a time. A
 * device can do several writes at once, but a system call writes only one file. The threads wake
 * the server when a group of drains is done.
 */
final class SyncThreads implements Syncs, AutoCloseable {
  /**
   * The number of threads: as many writes as a disk does at once. A group rarely has more files.
   */
  private static final int THREADS = 8;

  private final Runnable wakeup;
  private final List<Thread> threads = new ArrayList<>();

  /**
   * The memories to drain. Only the server's thread changes the list, while no drain is under way;
   * the other threads read the elements that they have claimed.
   */
  private final List<PersistentMemory> group = new ArrayList<>();

  /** Number of drains of the group that no thread has claimed. */
  private final AtomicInteger unclaimed = new AtomicInteger();

  /** Number of drains of the group that are not done. */
  private final AtomicInteger left = new AtomicInteger();

  private volatile boolean underWay;

  /** The first error of a drain of the group; null while there was none. */
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  /** The thread that waits in {@link #await}, or null. */
  private volatile Thread waiting;

  private volatile boolean closing;

  /**
   * @param wakeup wakes the server's thread; called by the other threads
   * @param failures receives the error that ends one of the threads
   */
  SyncThreads(Runnable wakeup, Failures failures) {
    this.wakeup = wakeup;
    boolean done = false;
    try {
      for (int i = 0; i < THREADS; i++) {
        threads.add(SideThreads.start(this::run, "erda-sync-" + i, failures));
      }
      done = true;
    } finally {
      if (!done) {
        close();
      }
    }
  }

  @Override
  public void add(PersistentMemory memory) {
    assert !underWay : "a group is under way";
    if (!group.contains(memory)) {
      group.add(memory);
    }
  }

  @Override
  public void begin() {
    int count = group.size();
    if (count > 0) {
      underWay = true;
      left.set(count);
      // This store comes last. From now on any thread may claim a drain, even a thread that was
      // late for the previous group.
      unclaimed.set(count);
      for (int i = 0; i < Math.min(count, THREADS); i++) {
        LockSupport.unpark(threads.get(i));
      }
    }
  }

  @Override
  public boolean isDone() {
    if (underWay) {
      return false;
    }
    switch (failure.getAndSet(null)) {
      case null -> {
        // The group is durable.
      }
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      case Throwable e -> throw new IllegalStateException("a drain failed", e);
    }
    return true;
  }

  @Override
  public void await() {
    boolean interrupted = false;
    waiting = Thread.currentThread();
    while (underWay) {
      LockSupport.park(this);
      interrupted |= Thread.interrupted();
    }
    waiting = null;
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void cancel() {
    await();
    group.clear();
    failure.set(null);
  }

  private void run() {
    while (true) {
      int claimed = unclaimed.getAndUpdate(count -> Math.max(0, count - 1));
      if (claimed > 0) {
        drain(group.get(claimed - 1));
      } else if (closing) {
        return;
      } else {
        LockSupport.park(this);
      }
    }
  }

  private void drain(PersistentMemory memory) {
    try {
      memory.drain();
    } catch (Throwable e) {
      failure.compareAndSet(null, e);
    }
    if (left.decrementAndGet() == 0) {
      group.clear();
      underWay = false;
      Thread waiter = waiting;
      if (waiter != null) {
        LockSupport.unpark(waiter);
      } else {
        wakeup.run();
      }
    }
  }

  /** Ends the threads. Returns when they have ended; no drain is begun any more. */
  @Override
  public void close() {
    closing = true;
    threads.forEach(SideThreads::join);
  }
}
