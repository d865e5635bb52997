package io.erda.server;

import io.erda.pmem.OpenDirectory;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Checks now and then that the directory of an open store still has the name under which it was
 * opened, that its files still have their names, and that its file system was not shut down. The
 * store itself goes on without the names, because its files are mapped and found through the open
 * directory. But a later opening by the name finds another store or none, and misses the changes
 * since then. Of a file system that was shut down the store learns when it stores next; where the
 * connections of its clients fail first, nothing is stored any more.
 *
 * <p>It uses a separate thread, because a path may lead to a network or a disk that does not
 * answer. Close it before the directory.
 */
final class DirectoryWatch implements AutoCloseable {
  private static final long INTERVAL_NS = 250_000_000L;

  /** How many names one check covers; in most stores these are all names. */
  private static final int FILES_AT_ONCE = 256;

  private static final String RESCUE =
      "what the store holds can be read until it is closed, and is gone then: back it up now";

  private final OpenDirectory directory;
  private final NamedFiles files;
  private final Supplier<String> failure;
  private final Runnable wakeup;
  private final Thread thread;

  /** Whether the file system failed at the last check. Guarded by this. */
  private boolean failed;

  private volatile String loss;
  private volatile boolean closing;

  /**
   * Starts checking.
   *
   * @param directory where the store is open; borrowed
   * @param files its files; borrowed
   * @param failure says in words how the file system fails now; null when it does not
   * @param wakeup called once, when {@link #loss} becomes non-null; wakes the thread that calls
   *     that method
   * @param failures receives the error that ends the thread
   */
  DirectoryWatch(
      OpenDirectory directory,
      NamedFiles files,
      Supplier<String> failure,
      Runnable wakeup,
      Failures failures) {
    this.directory = directory;
    this.files = files;
    this.failure = failure;
    this.wakeup = wakeup;
    this.thread = SideThreads.start(this::watch, "erda-directory", failures);
  }

  /**
   * Returns a message that the directory, or a file in it, was removed or moved, and how to mend
   * that, or that the file system failed; null until a check finds that. The first message stays.
   * Any thread may call this.
   */
  String loss() {
    return loss;
  }

  private void watch() {
    while (!closing && loss == null) {
      LockSupport.parkNanos(this, INTERVAL_NS);
      if (!closing && look(false)) {
        wakeup.run();
      }
    }
  }

  /** Checks once. Returns whether it has found the first loss. */
  private synchronized boolean look(boolean all) {
    if (loss != null) {
      return false;
    }
    OpenDirectory.Stray stray = directory.strayed();
    if (stray != null) {
      loss = stray.named() + "; " + fate(stray);
    } else {
      String lost = all ? files.lost() : files.lost(FILES_AT_ONCE);
      if (lost != null) {
        loss =
            "the files of the store were removed from "
                + directory
                + ", or replaced: "
                + lost
                + "; "
                + RESCUE;
      } else {
        loss = lastingFailure();
      }
    }
    return loss != null;
  }

  /** The file system's failure, if it failed at the check before, too: a single error may pass. */
  private String lastingFailure() {
    boolean before = failed;
    String now = failure.get();
    failed = now != null;
    return before && failed ? "the file system of the store failed: " + now : null;
  }

  private static String fate(OpenDirectory.Stray stray) {
    if (stray.now() != null) {
      return "the directory of the store is "
          + stray.now()
          + " now: close the store, and open it there or rename it back";
    }
    return stray.removed()
        ? "the directory of the store was removed: " + RESCUE
        : "where the directory of the store is can't be told (is another file system mounted over"
            + " it?): close the store, and find it";
  }

  /**
   * Makes a last check, so that a loss just before the end of a store is reported too, and ends the
   * thread.
   */
  @Override
  public void close() {
    closing = true;
    SideThreads.join(thread);
    look(true);
  }
}
