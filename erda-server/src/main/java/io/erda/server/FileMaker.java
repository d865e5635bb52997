package io.erda.server;

import io.erda.pmem.Creation;
import io.erda.pmem.PersistentMemory;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Makes the files of regions to come in a thread of its own, which is as quick as others: somebody
 * may wait for a file.
 *
 * <p>One thread, the server's, calls it.
 */
final class FileMaker implements AutoCloseable {
  private final Consumer<PersistentMemory> made;

  /** Guarded by itself. */
  private final ArrayDeque<Ahead> creations = new ArrayDeque<>();

  private final Thread thread;
  private volatile boolean closing;

  /**
   * Starts the thread.
   *
   * @param made gets what was made, in that thread, before anybody else
   * @param failures is told what ends the thread
   */
  FileMaker(Consumer<PersistentMemory> made, Failures failures) {
    this.made = made;
    this.thread = SideThreads.start(this::makeFiles, "erda-files", failures);
  }

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

    /** The other thread. */
    void make() {
      try (creation) {
        while (memory == null && !closing && !cancelled) {
          memory = creation.step();
        }
      } catch (IOException | RuntimeException | Error e) {
        failure = e;
      }
      if (memory != null) {
        made.accept(memory);
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

  /**
   * Returns one that is over when the thread has made the file. Who gives one up that is under way
   * closes this first.
   */
  Creation creating(Creation creation) {
    Ahead ahead = new Ahead(creation);
    synchronized (creations) {
      creations.add(ahead);
    }
    LockSupport.unpark(thread);
    return ahead;
  }

  private void makeFiles() {
    while (!closing) {
      Ahead next = next();
      if (next == null) {
        LockSupport.park(this);
      } else {
        next.make();
      }
    }
  }

  private Ahead next() {
    synchronized (creations) {
      return creations.poll();
    }
  }

  /** Gives up what was not begun, and what is under way. */
  @Override
  public void close() {
    closing = true;
    SideThreads.join(thread);
    for (Ahead ahead = next(); ahead != null; ahead = next()) {
      ahead.creation.close();
    }
  }
}
