package io.erda.server;

import io.erda.pmem.PersistentMemory;
import io.erda.server.engine.Syncs;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that waits for the device in the server's place. It wakes the server when a group of
 * drains is done.
 */
final class SyncThread implements Syncs, AutoCloseable {
  private final Runnable wakeup;
  private final Thread thread;

  /**
   * What is to be drained. The server's thread alone uses it while nothing is under way, the other
   * thread alone while something is.
   */
  private final List<PersistentMemory> group = new ArrayList<>();

  private volatile boolean underWay;

  /** What a drain threw; written before {@link #underWay} is false. */
  private Throwable failure;

  /** Who waits in {@link #await}. */
  private volatile Thread waiting;

  private volatile boolean closing;

  /**
   * @param wakeup wakes the server's thread; called by the other one
   */
  SyncThread(Runnable wakeup) {
    this.wakeup = wakeup;
    thread = new Thread(this::run, "erda-sync");
    thread.setDaemon(true);
    thread.start();
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
    if (!group.isEmpty()) {
      underWay = true;
      LockSupport.unpark(thread);
    }
  }

  @Override
  public boolean isDone() {
    if (underWay) {
      return false;
    }
    Throwable thrown = failure;
    failure = null;
    switch (thrown) {
      case null -> {
        // The group is durable.
      }
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new IllegalStateException("a drain failed", thrown);
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
    failure = null;
  }

  private void run() {
    while (true) {
      while (!underWay) {
        if (closing) {
          return;
        }
        LockSupport.park(this);
      }
      drain();
    }
  }

  private void drain() {
    try {
      for (PersistentMemory memory : group) {
        memory.drain();
      }
    } catch (Throwable e) {
      failure = e;
    }
    group.clear();
    underWay = false;
    Thread waiter = waiting;
    if (waiter != null) {
      LockSupport.unpark(waiter);
    } else {
      wakeup.run();
    }
  }

  /** Returns when the thread has ended. Nothing is begun any more. */
  @Override
  public void close() {
    closing = true;
    boolean interrupted = false;
    while (thread.isAlive()) {
      LockSupport.unpark(thread);
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
