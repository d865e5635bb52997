package io.erda.server;

import io.erda.pmem.OpenDirectory;
import java.util.concurrent.locks.LockSupport;

/**
 * Looks now and then whether the directory of an open store is still found by the name that the
 * store was opened by, and whether the files in it still have their names. All files are found
 * through the open directory and are mapped, so the store itself goes on; but whoever opens the
 * name later finds another store or none, and what was stored meanwhile is lost to him.
 *
 * <p>A thread of its own looks: a path may lead over a network or to a disk that does not answer,
 * and nobody else is to wait for that. It must be closed before the directory is.
 */
final class DirectoryWatch implements AutoCloseable {
  private static final long INTERVAL_NS = 250_000_000L;

  /** Files whose names are looked at each time: all, of most stores. */
  private static final int FILES_AT_ONCE = 256;

  private static final String RESCUE =
      "what the store holds can be read until it is closed, and is gone then: back it up now";

  private final OpenDirectory directory;
  private final NamedFiles files;
  private final Runnable wakeup;
  private final Thread thread;
  private volatile String loss;
  private volatile boolean closing;

  /**
   * Begins to look.
   *
   * @param directory where the store is open; borrowed
   * @param files its files; borrowed
   * @param wakeup called once, when {@link #loss} says something: wakes who asks
   * @param failures is told what ends the thread
   */
  DirectoryWatch(OpenDirectory directory, NamedFiles files, Runnable wakeup, Failures failures) {
    this.directory = directory;
    this.files = files;
    this.wakeup = wakeup;
    this.thread = SideThreads.start(this::watch, "erda-directory", failures);
  }

  /**
   * Says that the directory, or what was in it, is gone or elsewhere, and what to do; null until
   * then. What was said once stays. Any thread may ask.
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

  /** Returns whether something is to be said now that was not said before. */
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
      }
    }
    return loss != null;
  }

  private static String fate(OpenDirectory.Stray stray) {
    if (stray.now() != null) {
      return "the directory of the store is "
          + stray.now()
          + " now: close the store, and open it there or rename it back";
    }
    return stray.removed()
        ? "the directory of the store was removed: " + RESCUE
        : "where the directory of the store is can't be told: close the store, and find it";
  }

  /** Ends, after a last look: what happened just before the end of a store is to be told too. */
  @Override
  public void close() {
    closing = true;
    SideThreads.join(thread);
    look(true);
  }
}
