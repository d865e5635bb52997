package io.erda.rdma.shm;

import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.util.concurrent.locks.LockSupport;

/**
 * A directory that a device has taken over: it is locked, clients of earlier servers are fenced,
 * and the files of dead clients are removed. After that it either has a new registry, or is held:
 * all keys have ended, and new clients learn that the directory is taken.
 *
 * <p>The lock is flock(2) on the directory itself, so no file in it can prevent the locking. Owns
 * the directory, the registry and the lock. One thread.
 */
final class Serving implements AutoCloseable {
  /**
   * The name of a file that is locked by a process that holds the directory without serving in it.
   */
  static final String HELD = "held";

  private static final int LOCK_TRIES = 50;
  private static final long LOCK_PAUSE_NS = 1_000_000;

  private final ShmDirectory directory;
  private final SpareQueueFiles spares;
  private final Strangers strangers;

  /** The registry; null for a directory that is held. */
  private final ShmRegistry registry;

  /** The descriptor of {@link #HELD}, or −1. */
  private int held;

  private boolean closed;

  private Serving(
      ShmDirectory directory,
      SpareQueueFiles spares,
      Strangers strangers,
      ShmRegistry registry,
      int held) {
    this.directory = directory;
    this.spares = spares;
    this.strangers = strangers;
    this.registry = registry;
    this.held = held;
  }

  /**
   * Takes over the directory of the options.
   *
   * @throws IOException when another device has it
   */
  static Serving begin(ShmOptions options) throws IOException {
    ShmDirectory directory = ShmDirectory.openToServe(options.directory(), options.around());
    Strangers strangers = null;
    boolean done = false;
    try {
      if (!lock(directory)) {
        throw new IOException("another server is running in " + options.directory());
      }
      SpareQueueFiles spares = new SpareQueueFiles(directory);
      spares.open();
      boolean lost = LostQueueFiles.look(directory, options.opened());
      strangers = Strangers.fence(directory, spares, lost);
      Serving serving =
          options.holds()
              ? hold(directory, spares, strangers)
              : serve(directory, spares, strangers, options.nanoTime().getAsLong());
      done = true;
      return serving;
    } finally {
      if (!done) {
        if (strangers != null) {
          strangers.close();
        }
        directory.close();
      }
    }
  }

  /**
   * Locks the directory. A client that checks whether a process serves in it holds the lock for a
   * moment, so this tries several times.
   */
  private static boolean lock(ShmDirectory directory) throws IOException {
    for (int tries = 1; tries < LOCK_TRIES; tries++) {
      if (directory.tryLock()) {
        return true;
      }
      LockSupport.parkNanos(LOCK_PAUSE_NS);
    }
    return directory.tryLock();
  }

  private static Serving serve(
      ShmDirectory directory, SpareQueueFiles spares, Strangers strangers, long nowNs)
      throws IOException {
    directory.clear(HELD);
    ShmRegistry registry = ShmRegistry.create(directory, nowNs);
    // The spares are made last, because the server's own files need the space of the disk more than
    // the spares for its clients.
    spares.makeMissing(nowNs);
    return new Serving(directory, spares, strangers, registry, -1);
  }

  private static Serving hold(ShmDirectory directory, SpareQueueFiles spares, Strangers strangers)
      throws IOException {
    // The socket of a dead server is removed, because clients try the socket before they check
    // anything else.
    directory.clear(ShmSocket.FILE);
    ShmRegistry.endAllKeys(directory);
    directory.clear(HELD);
    int held = directory.create(HELD);
    boolean locked = false;
    try {
      // A client that checks the file holds its lock for a moment. That client sees no holder, but
      // the next client does.
      locked = ShmDirectory.tryLock(held);
      return new Serving(directory, spares, strangers, null, held);
    } finally {
      if (!locked) {
        Libc.close(held);
      }
    }
  }

  /** Whether a process holds this directory without serving in it. */
  static boolean isHeld(ShmDirectory directory) {
    int descriptor = -1;
    try {
      descriptor = directory.open(HELD, false);
      return ShmDirectory.isLocked(descriptor);
    } catch (IOException e) {
      return false;
    } finally {
      if (descriptor >= 0) {
        Libc.close(descriptor);
      }
    }
  }

  ShmDirectory directory() {
    return directory;
  }

  SpareQueueFiles spares() {
    return spares;
  }

  Strangers strangers() {
    return strangers;
  }

  ShmRegistry registry() {
    return registry;
  }

  /** {@inheritDoc} Idempotent. A call that ran out of memory may be repeated. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    try {
      strangers.close();
      if (registry != null) {
        registry.close();
      }
      if (held >= 0) {
        Libc.unlock(held);
        Libc.close(held);
        held = -1;
      }
    } finally {
      directory.close();
    }
    closed = true;
  }
}
