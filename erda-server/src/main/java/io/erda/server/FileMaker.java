package io.erda.server;

import io.erda.pmem.Creation;
import io.erda.pmem.PersistentMemory;
import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Makes the files of future regions in a thread of its own, at normal priority, because a client
 * may be waiting for a file.
 *
 * <p>Called only by the thread that has the server's turn, which waits for no lock here.
 */
final class FileMaker implements AutoCloseable {
  private final Consumer<PersistentMemory> made;

  private final Queue<Ahead> creations = new ConcurrentLinkedQueue<>();

  private final Thread thread;
  private volatile boolean closing;

  /**
   * Starts the thread.
   *
   * @param made receives each new file, in that thread, before any other code does
   * @param failures receives the error that ends the thread
   */
  FileMaker(Consumer<PersistentMemory> made, Failures failures) {
    this.made = made;
    this.thread = SideThreads.start(this::makeFiles, "erda-files", failures);
  }

  /** A creation whose steps are all done by the other thread. */
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
   * Returns a creation that is over when the thread has made the file. Before giving up a creation
   * that is under way, close this object.
   */
  Creation creating(Creation creation) {
    Ahead ahead = new Ahead(creation);
    creations.add(ahead);
    LockSupport.unpark(thread);
    return ahead;
  }

  private void makeFiles() {
    while (!closing) {
      Ahead next = creations.poll();
      if (next == null) {
        LockSupport.park(this);
      } else {
        next.make();
      }
    }
  }

  /**
   * Gives up the creations that have not begun and the one that is under way, and ends the thread.
   */
  @Override
  public void close() {
    closing = true;
    SideThreads.join(thread);
    for (Ahead ahead = creations.poll(); ahead != null; ahead = creations.poll()) {
      ahead.creation.close();
    }
  }
}
