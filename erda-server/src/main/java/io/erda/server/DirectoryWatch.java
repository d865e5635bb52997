package io.erda.server;

import io.erda.pmem.OpenDirectory;
import io.erda.server.engine.service.Loss;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Checks now and then that the directory of an open store still has the name under which it was
 * opened, that no other server has opened the store, that its files still have their names, that
 * the kernel could write them to their device, and that its file system was not shut down. The
 * store itself goes on without the names, because its files are mapped and found through the open
 * directory. But a later opening by the name finds another store or none, and misses the changes
 * since then. Of a file system that was shut down the store learns when it stores next; where the
 * connections of its clients fail first, nothing is stored any more.
 *
 * <p>It uses a separate thread, because a path may lead to a network or a disk that does not
 * answer: then nothing else waits for long. Close it before the directory.
 */
final class DirectoryWatch implements AutoCloseable {
  private static final long INTERVAL_NS = 250_000_000L;

  /** How many names one check covers; in most stores these are all names. */
  private static final int FILES_AT_ONCE = 256;

  /** As that; such a check is dearer, and an error comes up to half a minute after the store. */
  private static final int WRITES_AT_ONCE = 64;

  private static final String RESCUE =
      "clients that are connected, and new ones over TCP, can read what the store holds until it is"
          + " closed, and it is gone then: back it up now";

  private static final String UNWRITTEN =
      "what was stored last may be lost, and is as soon as the kernel needs the memory: back up now"
          + " what can be read";

  /** How long the end waits for the last check. */
  private static final long LAST_CHECK_MS = 2_000;

  private final OpenDirectory directory;
  private final NamedFiles files;
  private final OtherOpening other;
  private final Supplier<String> failure;
  private final Runnable wakeup;
  private final Thread thread;

  /** Whether the file system failed at the last check. Of the thread. */
  private boolean failed;

  private volatile Loss loss;
  private volatile boolean closing;
  private volatile boolean unanswered;

  /**
   * Starts checking.
   *
   * @param directory where the store is open; borrowed
   * @param files its files; borrowed
   * @param other tells whether another server has opened the store
   * @param failure says in words how the file system fails now; null when it does not
   * @param wakeup called once, when {@link #loss} becomes non-null; wakes the thread that calls
   *     that method
   * @param failures receives the error that ends the thread
   */
  DirectoryWatch(
      OpenDirectory directory,
      NamedFiles files,
      OtherOpening other,
      Supplier<String> failure,
      Runnable wakeup,
      Failures failures) {
    this.directory = directory;
    this.files = files;
    this.other = other;
    this.failure = failure;
    this.wakeup = wakeup;
    this.thread = SideThreads.start(this::watch, "erda-directory", failures);
  }

  /**
   * Returns a message that the directory, or a file in it, was removed or moved, and how to mend
   * that, or that the device or the file system failed; null until a check finds that. The first
   * message stays. Any thread may call this.
   */
  Loss loss() {
    return loss;
  }

  /** Whether the last check did not end in time, so that a loss may have gone unnoticed. */
  boolean isUnanswered() {
    return unanswered;
  }

  /**
   * Checks now and then, and a last time when it is closed, so that a loss just before the end of a
   * store is reported too.
   */
  private void watch() {
    while (!closing && loss == null) {
      LockSupport.parkNanos(this, INTERVAL_NS);
      if (!closing && look(false) && !closing) {
        wakeup.run();
      }
    }
    if (closing) {
      look(true);
    }
  }

  /** Checks once. Returns whether it has found the first loss. */
  private boolean look(boolean all) {
    if (loss == null) {
      loss = find(all);
      return loss != null;
    }
    return false;
  }

  private Loss find(boolean all) {
    OpenDirectory.Stray stray = directory.strayed();
    if (stray != null) {
      return new Loss(stray.named() + "; " + fate(stray), Loss.Of.DIRECTORY);
    }
    String opened = other.found();
    if (opened != null) {
      return new Loss(opened, Loss.Of.DIRECTORY);
    }
    String lost = all ? files.lost() : files.lost(FILES_AT_ONCE);
    if (lost != null) {
      return new Loss(
          "the files of the store were removed from "
              + directory
              + ", replaced, shortened or lengthened: "
              + lost
              + "; "
              + RESCUE,
          Loss.Of.FILES);
    }
    String unwritten = directory.lost();
    if (unwritten == null) {
      unwritten = all ? files.unwritten() : files.unwritten(WRITES_AT_ONCE);
    }
    return unwritten == null
        ? lastingFailure()
        : new Loss(
            "the device did not take bytes of a file of the store in "
                + directory
                + ": "
                + unwritten
                + "; "
                + UNWRITTEN,
            Loss.Of.BYTES);
  }

  /** The file system's failure, if it failed at the check before, too: a single error may pass. */
  private Loss lastingFailure() {
    boolean before = failed;
    String now = failure.get();
    failed = now != null;
    return before && failed
        ? new Loss("the file system of the store failed: " + now + "; " + UNWRITTEN, Loss.Of.BYTES)
        : null;
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

  /** Ends the thread after a last check, and waits for that for a while. */
  @Override
  public void close() {
    closing = true;
    unanswered = !SideThreads.joinWithin(thread, LAST_CHECK_MS);
  }
}
